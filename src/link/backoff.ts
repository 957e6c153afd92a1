/** How long to wait before a dead engine process is started again. */

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;

/** A process that was ready for this long had no trouble starting: its death begins a new series. */
const HEALTHY_MS = 30_000;

/** Delays of one engine's restarts: 100 ms, doubling to 10 s, back to 100 ms after 30 s of health. */
export class Backoff {
  #nextMs = FIRST_DELAY_MS;

  /** The delay in ms before the next start of a process that died after having been ready for `readyMs` (0 = it never was). */
  next(readyMs: number): number {
    if (readyMs >= HEALTHY_MS) this.#nextMs = FIRST_DELAY_MS;
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
    return delayMs;
  }
}
