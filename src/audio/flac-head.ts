/**
 * The metadata before the audio of a FLAC file (RFC 9639 §8). A decoder needs only the description of the stream.
 * Pictures and padding may have many megabytes, which a decoder would copy again and again with each push.
 */
import { refusalOf } from './limits.ts';

const MARKER = Uint8Array.of(0x66, 0x4c, 0x61, 0x43);
const ID3_HEAD_BYTES = 10;
const BLOCK_HEAD_BYTES = 4;
const STREAM_INFO_BYTES = 34;
/** The header of a description that is also the last metadata block. */
const ONLY_BLOCK_HEAD = Uint8Array.of(0x80, 0, 0, STREAM_INFO_BYTES);

type Awaited = 'marker' | 'info' | 'block' | 'audio';

/** Takes a file's bytes as they come and separates the description and the audio from other metadata. */
export class FlacHead {
  #awaited: Awaited = 'marker';
  /** The beginning of the part that is awaited. */
  #held: Uint8Array = new Uint8Array(0);
  #skipBytes = 0;

  /**
   * Takes the file's next bytes. `head` is the marker and the description, once, and empty otherwise; `audio` is the
   * part of `bytes` after the metadata.
   * @throws RangeError with the reason for a file that is not allowed
   */
  push(bytes: Uint8Array): { head: Uint8Array; audio: Uint8Array } {
    if (this.#awaited === 'audio' && this.#skipBytes === 0) return { head: new Uint8Array(0), audio: bytes };
    let rest = this.#held.length === 0 ? bytes : join(this.#held, bytes);
    const head: Uint8Array[] = [];
    for (;;) {
      const skipped = Math.min(this.#skipBytes, rest.length);
      this.#skipBytes -= skipped;
      rest = rest.subarray(skipped);
      const taken = this.#skipBytes > 0 || this.#awaited === 'audio' ? 0 : this.#take(rest, head);
      if (taken === 0) break;
      rest = rest.subarray(taken);
    }
    const isAudio = this.#awaited === 'audio';
    this.#held = isAudio ? new Uint8Array(0) : rest.slice();
    return { head: join(...head), audio: isAudio ? rest : new Uint8Array(0) };
  }

  /** How many of `bytes` were used; 0 = more are needed. */
  #take(bytes: Uint8Array, head: Uint8Array[]): number {
    if (this.#awaited === 'marker') return this.#takeMarker(bytes);
    if (bytes.length < BLOCK_HEAD_BYTES) return 0;
    const [kind = 0, high = 0, middle = 0, low = 0] = bytes;
    const blockBytes = high * 65_536 + middle * 256 + low;
    const isLast = (kind & 0x80) !== 0;
    if (this.#awaited === 'info') {
      if ((kind & 0x7f) !== 0 || blockBytes !== STREAM_INFO_BYTES)
        throw new RangeError('its FLAC data does not begin with its description');
      if (bytes.length < BLOCK_HEAD_BYTES + STREAM_INFO_BYTES) return 0;
      const info = bytes.slice(BLOCK_HEAD_BYTES, BLOCK_HEAD_BYTES + STREAM_INFO_BYTES);
      checkInfo(info);
      head.push(MARKER, ONLY_BLOCK_HEAD, info);
    } else this.#skipBytes = blockBytes;
    this.#awaited = isLast ? 'audio' : 'block';
    return this.#skipBytes > 0 ? BLOCK_HEAD_BYTES : BLOCK_HEAD_BYTES + blockBytes;
  }

  #takeMarker(bytes: Uint8Array): number {
    if (bytes.length < ID3_HEAD_BYTES) return 0;
    if (bytes[0] === 0x49 && bytes[1] === 0x44 && bytes[2] === 0x33) {
      this.#skipBytes = bytes.subarray(6, ID3_HEAD_BYTES).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
      return ID3_HEAD_BYTES;
    }
    if (!MARKER.every((byte, at) => bytes[at] === byte)) throw new RangeError('its FLAC data does not begin with fLaC');
    this.#awaited = 'info';
    return MARKER.length;
  }
}

/** The rate has 20 bits from the tenth byte on, the number of channels minus one the next three. */
function checkInfo(info: Uint8Array): void {
  const [high = 0, middle = 0, low = 0] = info.subarray(10);
  const refusal = refusalOf(high * 4096 + middle * 16 + (low >> 4), ((low >> 1) & 7) + 1);
  if (refusal !== null) throw new RangeError(refusal);
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
