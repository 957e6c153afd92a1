/**
 * The first packets of the streams in an Ogg file, looked at before a decoder is: they say how many channels there are
 * (Opus: RFC 7845 §5.1; Vorbis I §4.2.2), and 255 channels make a page of half a kilobyte over a gigabyte of samples.
 */
import { channelRefusalOf, refusalOf } from './limits.ts';

const OPUS = asBytes('OpusHead');
const VORBIS = asBytes('\u0001vorbis');
const OPUS_CHANNELS_AT = 9;
const VORBIS_CHANNELS_AT = 11;
const VORBIS_RATE_AT = 12;
/** Up to the end of what is looked at. */
const HEAD_BYTES = 16;

/** Looks through a file's bytes as they come. A chain of streams has such a packet at the beginning of each. */
export class OggHeads {
  #tail: Uint8Array = new Uint8Array(0);

  /**
   * Looks through `bytes`, the file's next, for every stream that begins in them. @throws RangeError for a stream that
   * is not taken; its message says why
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
