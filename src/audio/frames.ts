/** Whole frames of a codec: their size, and padding to them. */
import { type Codec, FRAME_MS, msToBytes } from '../foundation/units.ts';

/** The byte of silence. Zero is full scale in µ-law (ITU-T G.711, table 2a) and a loud click in A-law. */
const SILENCE: Readonly<Record<Codec['name'], number>> = { mulaw: 0xff, alaw: 0xd5, pcm16: 0 };

/** Bytes of one 20 ms frame of `codec`. */
export function frameBytes(codec: Codec): number {
  return msToBytes(FRAME_MS, codec);
}

/** `durationMs` of silence in `codec`. */
export function silentBytes(durationMs: number, codec: Codec): Uint8Array {
  return new Uint8Array(msToBytes(durationMs, codec)).fill(SILENCE[codec.name]);
}

/** Pads `bytes` with silence to a multiple of `frames` frames. Returns `bytes` itself when it is one already. */
export function padToFrames(bytes: Uint8Array, codec: Codec, frames = 1): Uint8Array {
  const size = frames * frameBytes(codec);
  if (bytes.length % size === 0) return bytes;
  const padded = new Uint8Array(Math.ceil(bytes.length / size) * size).fill(SILENCE[codec.name]);
  padded.set(bytes);
  return padded;
}

/** Cuts a stream of bytes into whole frames. */
export class Framer {
  readonly #codec: Codec;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** Returns the whole frames that are complete; the rest comes with the next ones. */
  push(bytes: Uint8Array): Uint8Array {
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const whole = all.length - (all.length % frameBytes(this.#codec));
    this.#rest = all.subarray(whole);
    return all.subarray(0, whole);
  }

  /** Returns the rest, padded with silence to one frame; empty when there is none. */
  flush(): Uint8Array {
    const last = padToFrames(this.#rest, this.#codec);
    this.#rest = new Uint8Array(0);
    return last;
  }
}
