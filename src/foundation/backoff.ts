/** How long to wait before a failed attempt is repeated. */

interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** After this long without a failure, the delays start again with the first; by default never. */
  readonly healthyMs?: number;
  /**
   * Each delay is shortened by a random share up to this one (0–1), so that many clients of one server do not all come
   * back at once; by default none.
   */
  readonly jitterShare?: number;
  /** Numbers from 0 to 1, below 1. */
  readonly random?: () => number;
}

/** A series of delays that doubles from the first to the longest, and starts again after a time without failures. */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = options.firstMs;
  }

  /** The delay in ms before the next try, after the last one worked for `healthyForMs` (0 = it never worked). */
  next(healthyForMs = 0): number {
    const { longestMs, healthyMs = Number.POSITIVE_INFINITY, jitterShare = 0, random = Math.random } = this.#options;
    if (healthyForMs >= healthyMs) this.restart();
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, longestMs);
    return jitterShare === 0 ? delayMs : delayMs * (1 - jitterShare * random());
  }

  /** Makes the next delay the first one again. */
  restart(): void {
    this.#nextMs = this.#options.firstMs;
  }
}
