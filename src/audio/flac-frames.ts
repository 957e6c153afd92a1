/**
 * Cuts the audio of a FLAC file (RFC 9639 §9) for its decoder. The decoder finds the end of a frame by the header of
 * the next one; if it gets only a part of that header it loses the frame. So it always gets whole frames and the header
 * that follows them.
 */

/** Largest header (§9.1): 4 bytes, a number of up to 7, block size, rate, checksum. */
const HEADER_MAX_BYTES = 16;
/** Real frames have at most some 200 kB; data in which no frame ends within this is damaged. */
const FRAME_MAX_BYTES = 1_048_576;

const CRC8 = Uint8Array.from({ length: 256 }, (_, byte) => shifted(byte, 8, 0x07));
const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => shifted(byte << 8, 16, 0x8005));

/** Takes the bytes after a file's metadata as they come. */
export class FlacFrames {
  /** Begins with the first frame that has not been returned whole; grows by doubling. */
  #bytes = new Uint8Array(4096);
  #length = 0;
  /** How many of these bytes have been returned. */
  #returnedTo = 0;
  /** How far the search for the end of the frame has come, and the frame's checksum up to there. */
  #at = 0;
  #crc = 0;
  #hasBegun = false;

  /**
   * Takes the next bytes and returns whole frames with the header of the next one; perhaps nothing.
   * @throws RangeError with the reason for damaged data
   */
  push(bytes: Uint8Array): Uint8Array {
    this.#append(bytes);
    const end = this.#findLastEnd();
    // Not a byte more: a frame of silence is shorter than a header, so a part of another header may follow it.
    const complete = end === 0 ? new Uint8Array(0) : this.#return(end + headerBytes(this.#bytes, end));
    if (end > 0) this.#drop(end);
    if (this.#length > FRAME_MAX_BYTES)
      throw new RangeError(`no FLAC frame of it ends within ${FRAME_MAX_BYTES} bytes`);
    return complete;
  }

  /** Returns the rest at the end of the file. */
  flush(): Uint8Array {
    return this.#return(this.#length);
  }

  /** The end of the last whole frame: its checksum is right, and the header of another frame follows. 0 = none. */
  #findLastEnd(): number {
    const bytes = this.#bytes;
    const to = this.#length - HEADER_MAX_BYTES;
    let [at, crc, end] = [this.#at, this.#crc, 0];
    for (; at <= to; at++) {
      if ((crc === 0 || !this.#hasBegun) && headerBytes(bytes, at) > 0) {
        end = at;
        crc = 0;
        this.#hasBegun = true;
      }
      crc = (CRC16[(crc >> 8) ^ (bytes[at] as number)] as number) ^ ((crc << 8) & 0xffff);
    }
    this.#at = at;
    this.#crc = crc;
    return end;
  }

  #return(to: number): Uint8Array {
    const returned = this.#bytes.slice(this.#returnedTo, to);
    this.#returnedTo = to;
    return returned;
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  #drop(count: number): void {
    this.#bytes.copyWithin(0, count, this.#length);
    this.#length -= count;
    this.#at -= count;
    this.#returnedTo -= count;
  }
}

/** The length of the frame header at `at` (§9.1), whose checksum is right; 0 = there is no header. */
function headerBytes(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0xff || ((bytes[at + 1] as number) & 0xfe) !== 0xf8) return 0;
  const [third = 0, fourth = 0, number = 0] = bytes.subarray(at + 2, at + 5);
  const [blockCode, rateCode] = [third >> 4, third & 15];
  if (blockCode === 0 || rateCode === 15 || fourth >> 4 > 10 || (fourth & 1) !== 0) return 0;
  // The number is coded like a character in UTF-8, with up to 7 bytes.
  const numberBytes = Math.min(7, Math.max(1, Math.clz32(~(number << 24))));
  const blockBytes = blockCode === 6 ? 1 : blockCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  const checkedTo = at + 4 + numberBytes + blockBytes + rateBytes;
  let crc = 0;
  for (let i = at; i < checkedTo; i++) crc = CRC8[crc ^ (bytes[i] as number)] as number;
  return crc === bytes[checkedTo] ? checkedTo + 1 - at : 0;
}

function shifted(value: number, width: number, polynomial: number): number {
  let crc = value;
  for (let bit = 0; bit < 8; bit++) crc = crc & (1 << (width - 1)) ? (crc << 1) ^ polynomial : crc << 1;
  return crc & ((1 << width) - 1);
}
