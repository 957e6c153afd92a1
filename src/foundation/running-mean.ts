import type { Clock } from './clock.ts';

/** How much is used is a mean over so many ms: callers speak in turns, and a second in which few do says little. */
export const USE_MEAN_MS = 30_000;

/** The mean over time of what changes now and then: what was `overMs` ago counts 1/e of what is now. */
export class RunningMean {
  readonly #clock: Clock;
  readonly #overMs: number;
  #value = 0;
  #mean = 0;
  #atMs: number;

  constructor(clock: Clock, overMs: number) {
    this.#clock = clock;
    this.#overMs = overMs;
    this.#atMs = clock.nowMs();
  }

  /** It is `value` from now on. */
  set(value: number): void {
    this.#mean = this.now;
    this.#atMs = this.#clock.nowMs();
    this.#value = value;
  }

  /** The mean up to now. */
  get now(): number {
    const kept = Math.exp((this.#atMs - this.#clock.nowMs()) / this.#overMs);
    return this.#value + (this.#mean - this.#value) * kept;
  }
}
