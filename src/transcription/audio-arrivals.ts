import { VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { RING_LIMIT_SAMPLES } from './sample-ring.ts';

const WINDOWS = RING_LIMIT_SAMPLES / VAD_WINDOW_SAMPLES;

/**
 * When each stretch of a track's audio arrived, to the precision of one detector window (32 ms): a window counts as
 * arrived when the last push that touched it came. Covers as much audio as a {@link SampleRing} can ever hold.
 */
export class Arrivals {
  readonly #atMs = new Float64Array(WINDOWS);

  /** Samples numbered `from` (inclusive) to `to` (exclusive) arrived at `atMs` on the clock. */
  note(from: number, to: number, atMs: number): void {
    if (to <= from) return;
    const last = windowOf(to - 1);
    for (let window = Math.max(windowOf(from), last - WINDOWS + 1); window <= last; window++)
      this.#atMs[window % WINDOWS] = atMs;
  }

  /** The clock's ms at which the audio before sample number `to` had arrived. */
  at(to: number): number {
    return this.#atMs[windowOf(Math.max(to - 1, 0)) % WINDOWS] ?? 0;
  }
}

function windowOf(sample: number): number {
  return Math.floor(sample / VAD_WINDOW_SAMPLES);
}
