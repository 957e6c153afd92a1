/** Whole frames of a codec: how large they are, and how audio is filled up to them. */
import { type Codec, FRAME_MS, msToBytes } from '../foundation/units.ts';

/** The byte that is silence. A zero would be full scale in µ-law (ITU-T G.711, table 2a) and a loud click in A-law. */
const SILENCE: Readonly<Record<Codec['name'], number>> = { mulaw: 0xff, alaw: 0xd5, pcm16: 0 };

/** Bytes of one 20 ms frame of `codec`. */
export function frameBytes(codec: Codec): number {
  return msToBytes(FRAME_MS, codec);
}

/** `durationMs` of silence in `codec`. */
export function silentBytes(durationMs: number, codec: Codec): Uint8Array {
  return new Uint8Array(msToBytes(durationMs, codec)).fill(SILENCE[codec.name]);
}

/**
 * `bytes` of `codec` filled up with silence to a multiple of `frames` frames: itself when it is one already, else
 * memory of its own.
 */
export function padToFrames(bytes: Uint8Array, codec: Codec, frames = 1): Uint8Array {
  const size = frames * frameBytes(codec);
  if (bytes.length % size === 0) return bytes;
  const padded = new Uint8Array(Math.ceil(bytes.length / size) * size).fill(SILENCE[codec.name]);
  padded.set(bytes);
  return padded;
}

/** Cuts a stream of bytes in pieces of whole frames. */
export class Framer {
  readonly #codec: Codec;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** The whole frames that `bytes` complete; what is left over comes with the next ones. */
  push(bytes: Uint8Array): Uint8Array {
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const whole = all.length - (all.length % frameBytes(this.#codec));
    this.#rest = all.subarray(whole);
    return all.subarray(0, whole);
  }

  /** What is left over, filled up with silence to one frame; empty when nothing is. */
  flush(): Uint8Array {
    const last = padToFrames(this.#rest, this.#codec);
    this.#rest = new Uint8Array(0);
    return last;
  }
}
