/** How busy the engines are with live work. */
import type { Clock } from '../foundation/clock.ts';

const SLICE_MS = 500;
const SLICES = 10;

/**
 * Share of engine time that live jobs took over the last 5 s. Batch work does not count: it yields to live work between
 * any two model runs, so a backlog of it is no reason to refuse a call or to slow down captions.
 */
export class LoadMeter {
  readonly #clock: Clock;
  readonly #workers: number;
  readonly #startedMs: number;
  /** Slice n of time since the start is kept at n modulo SLICES. */
  readonly #slices = Array.from({ length: SLICES }, () => ({ number: 0, runMs: 0 }));

  /** @param workers number of engine processes */
  constructor(clock: Clock, workers: number) {
    this.#clock = clock;
    this.#workers = workers;
    this.#startedMs = clock.nowMs();
  }

  /** Books `runMs` of model runs that ended just now. */
  add(runMs: number): void {
    const number = this.#sliceNow();
    const slice = this.#slices[number % SLICES];
    if (slice === undefined) return;
    if (slice.number !== number) Object.assign(slice, { number, runMs: 0 });
    slice.runMs += runMs;
  }

  /** 0 (idle) to 1 (no time left). */
  get share(): number {
    const oldest = this.#sliceNow() - SLICES + 1;
    const runMs = this.#slices.reduce((sum, slice) => (slice.number >= oldest ? sum + slice.runMs : sum), 0);
    return Math.min(runMs / (SLICES * SLICE_MS * this.#workers), 1);
  }

  #sliceNow(): number {
    return Math.floor((this.#clock.nowMs() - this.#startedMs) / SLICE_MS);
  }
}
