/**
 * Checks the first packet of each stream in an Ogg file before the decoder gets it. The packet names the number of
 * channels (Opus: RFC 7845 §5.1; Vorbis I §4.2.2), and with 255 channels a page of half a kilobyte becomes over a
 * gigabyte of samples.
 */
import { channelRefusalOf, refusalOf } from './limits.ts';

const OPUS = asBytes('OpusHead');
const VORBIS = asBytes('\u0001vorbis');
const OPUS_CHANNELS_AT = 9;
const VORBIS_CHANNELS_AT = 11;
const VORBIS_RATE_AT = 12;
/** Bytes of a packet that are checked. */
const HEAD_BYTES = 16;

/** Checks a file's bytes as they come. In a chain of streams each begins with such a packet. */
export class OggHeads {
  #tail: Uint8Array = new Uint8Array(0);

  /**
   * Takes the file's next bytes and checks every stream that begins in them.
   * @throws RangeError with the reason for a stream that is not allowed
   */
  push(bytes: Uint8Array): void {
    const all = new Uint8Array(this.#tail.length + bytes.length);
    all.set(this.#tail);
    all.set(bytes, this.#tail.length);
    for (let at = 0; at + HEAD_BYTES <= all.length; at++) check(all, at);
    this.#tail = all.slice(Math.max(0, all.length - HEAD_BYTES + 1));
  }
}

function check(bytes: Uint8Array, at: number): void {
  const refusal = startsAt(bytes, at, OPUS)
    ? channelRefusalOf(bytes[at + OPUS_CHANNELS_AT] as number)
    : startsAt(bytes, at, VORBIS)
      ? refusalOf(rateAt(bytes, at + VORBIS_RATE_AT), bytes[at + VORBIS_CHANNELS_AT] as number)
      : null;
  if (refusal !== null) throw new RangeError(refusal);
}

function rateAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
}

function startsAt(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

function asBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
