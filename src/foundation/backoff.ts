/** How long to wait before something that ended by itself is tried again. */

interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Whatever went well for this long had no trouble beginning: its end begins a new series. */
  readonly healthyMs: number;
  /**
   * Each delay is shorter by a random share up to this one (0–1), so that many who lost the same thing do not come back
   * at once; none unless given.
   */
  readonly jitterShare?: number;
  /** Numbers from 0 to 1, below 1. */
  readonly random?: () => number;
}

/** One series of delays: the first, doubling to the longest, and back to the first after some time of health. */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = options.firstMs;
  }

  /** The delay in ms before the next try, when the last one went well for `healthyForMs` (0 = it never did). */
  next(healthyForMs: number): number {
    const { firstMs, longestMs, healthyMs, jitterShare = 0, random = Math.random } = this.#options;
    if (healthyForMs >= healthyMs) this.#nextMs = firstMs;
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, longestMs);
    return jitterShare === 0 ? delayMs : delayMs * (1 - jitterShare * random());
  }
}
