import { TrunklineError } from '../foundation/errors.ts';

/** Most samples a ring ever holds: about 131 s at 16 kHz, or 4 MiB. More audio than that may not wait. */
export const RING_LIMIT_SAMPLES = 1 << 21;

/**
 * The latest audio of one track, addressed by sample number since the track began. When more must be kept than it was
 * sized for it grows, up to {@link RING_LIMIT_SAMPLES}.
 */
export class SampleRing {
  #samples: Int16Array;
  #keptFrom = 0;
  #end = 0;

  /** @param capacity in samples */
  constructor(capacity: number) {
    this.#samples = new Int16Array(Math.min(capacity, RING_LIMIT_SAMPLES));
  }

  /** Samples received so far, which is the number of the next one. */
  get end(): number {
    return this.#end;
  }

  /** Appends a copy of `samples`. Throws `audio_too_fast` when they do not fit beside what must still be kept. */
  push(samples: Int16Array): void {
    this.#makeRoom(this.#end + samples.length - this.#keptFrom);
    write(this.#samples, this.#end, samples);
    this.#end += samples.length;
  }

  /**
   * A copy of the samples numbered `from` (inclusive) to `to` (exclusive); what is no longer or not yet there is left
   * out.
   */
  slice(from: number, to: number): Int16Array {
    const first = Math.max(from, this.#keptFrom);
    const last = Math.min(to, this.#end);
    const copy = new Int16Array(Math.max(last - first, 0));
    read(this.#samples, first, copy);
    return copy;
  }

  /** Audio before sample number `from` is not needed any more. */
  release(from: number): void {
    this.#keptFrom = Math.min(Math.max(this.#keptFrom, from), this.#end);
  }

  #makeRoom(needed: number): void {
    if (needed <= this.#samples.length) return;
    if (needed > RING_LIMIT_SAMPLES) {
      throw new TrunklineError(
        'audio_too_fast',
        `${needed} samples of a track wait to be transcribed; expected at most ${RING_LIMIT_SAMPLES}: the ` +
          'sender must slow down',
      );
    }
    const grown = new Int16Array(Math.min(Math.max(needed, this.#samples.length * 2), RING_LIMIT_SAMPLES));
    write(grown, this.#keptFrom, this.slice(this.#keptFrom, this.#end));
    this.#samples = grown;
  }
}

function write(ring: Int16Array, at: number, samples: Int16Array): void {
  const start = at % ring.length;
  const untilWrap = Math.min(samples.length, ring.length - start);
  ring.set(samples.subarray(0, untilWrap), start);
  ring.set(samples.subarray(untilWrap), 0);
}

function read(ring: Int16Array, at: number, into: Int16Array): void {
  const start = at % ring.length;
  const untilWrap = Math.min(into.length, ring.length - start);
  into.set(ring.subarray(start, start + untilWrap), 0);
  into.set(ring.subarray(0, into.length - untilWrap), untilWrap);
}
