/** Takes Ogg (RFC 3533) apart as it comes: the packets of its stream of Opus (RFC 7845). */
import { joinBytes } from './bytes.ts';
import { isOpusHead, type OpusHead, readOpusHead } from './opus-head.ts';

const MAGIC = asBytes('OggS');
const OPUS_TAGS = asBytes('OpusTags');
const HEADER_BYTES = 27;
/** Flags of a page. */
const CONTINUED = 1;
const BEGINS = 2;
/** A segment this long goes on in the next one. */
const SEGMENT_MAX_BYTES = 255;
/** A packet longer than this is dropped: one of sound has at most 7,658 bytes; pictures may come in the tags. */
const PACKET_MAX_BYTES = 8192;
/** Bytes before a stream of Opus begins: other streams of the same file begin there too. */
const FOREIGN_MAX_BYTES = 65_536;

/** See above. */
export class OggPackets {
  readonly name = 'Ogg';
  #held: Uint8Array = new Uint8Array(0);
  /** Which of the file's streams it is; null = it has not begun. */
  #serial: number | null = null;
  #head: OpusHead | null = null;
  #foreignBytes = 0;
  /** The packet that is not complete. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;

  /** Of the stream; another one when a new stream has begun. Null before any has. */
  get head(): OpusHead | null {
    return this.#head;
  }

  /**
   * The packets of sound that are complete with `bytes`, cut anywhere.
   * @throws RangeError with the reason for a file that is no Ogg with Opus in one or two channels
   */
  push(bytes: Uint8Array): Uint8Array[] {
    let rest = this.#held.length === 0 ? bytes : joinBytes([this.#held, bytes]);
    const packets: Uint8Array[] = [];
    for (;;) {
      const length = pageBytes(rest);
      if (length === null) break;
      this.#readPage(rest.subarray(0, length), packets);
      rest = rest.subarray(length);
    }
    // Copies: a part of a message must not keep all of it in memory.
    this.#held = new Uint8Array(rest);
    this.#parts = this.#parts.map((part) => new Uint8Array(part));
    return packets;
  }

  #readPage(page: Uint8Array, packets: Uint8Array[]): void {
    const flags = page[5] as number;
    const serial = new DataView(page.buffer, page.byteOffset).getUint32(14, true);
    const segments = page.subarray(HEADER_BYTES, HEADER_BYTES + (page[26] as number));
    let at = HEADER_BYTES + segments.length;
    if ((flags & BEGINS) !== 0 && isOpusHead(page.subarray(at))) this.#begin(serial, page.subarray(at));
    if (serial !== this.#serial) {
      this.#passOver(page.length);
      return;
    }
    if ((flags & CONTINUED) === 0) this.#drop();
    for (const bytes of segments) {
      this.#add(page.subarray(at, at + bytes));
      at += bytes;
      if (bytes === SEGMENT_MAX_BYTES) continue;
      const packet = this.#take();
      if (packet !== null) packets.push(packet);
    }
  }

  #begin(serial: number, head: Uint8Array): void {
    this.#head = readOpusHead(head);
    this.#serial = serial;
    this.#drop();
  }

  #passOver(bytes: number): void {
    if (this.#serial !== null) return;
    this.#foreignBytes += bytes;
    if (this.#foreignBytes > FOREIGN_MAX_BYTES)
      throw new RangeError(`got ${this.#foreignBytes} bytes of Ogg without a stream of Opus`);
  }

  #add(part: Uint8Array): void {
    this.#partBytes += part.length;
    if (this.#partBytes <= PACKET_MAX_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  /** Null for what is no sound. */
  #take(): Uint8Array | null {
    const [only] = this.#parts;
    if (only === undefined) {
      this.#drop();
      return null;
    }
    const packet = this.#parts.length === 1 ? only : joinBytes(this.#parts);
    this.#drop();
    return packet.length === 0 || isOpusHead(packet) || startsWith(packet, OPUS_TAGS) ? null : packet;
  }

  #drop(): void {
    this.#parts = [];
    this.#partBytes = 0;
  }
}

/** Whether a file that begins with these bytes may be Ogg; null = more have to come. */
export function isOgg(head: Uint8Array): boolean | null {
  for (const [at, byte] of MAGIC.entries()) {
    if (at >= head.length) return null;
    if (head[at] !== byte) return false;
  }
  return true;
}

/** Of the page that `bytes` begin with; null = more have to come. */
function pageBytes(bytes: Uint8Array): number | null {
  if (isOgg(bytes) === false) throw new RangeError('a page of Ogg does not begin where the one before ends');
  if (bytes.length < HEADER_BYTES) return null;
  const count = bytes[26] as number;
  const segments = bytes.subarray(HEADER_BYTES, HEADER_BYTES + count);
  const length = segments.reduce((sum, each) => sum + each, HEADER_BYTES + count);
  return segments.length < count || bytes.length < length ? null : length;
}

function startsWith(bytes: Uint8Array, text: Uint8Array): boolean {
  return text.every((each, at) => bytes[at] === each);
}

function asBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
