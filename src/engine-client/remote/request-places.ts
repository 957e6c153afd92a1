import type { Clock } from '../../foundation/clock.ts';
import { RunningMean, USE_MEAN_MS } from '../../foundation/running-mean.ts';

/** A server that is busy and does not say for how long is left alone for this time, and never for longer than that. */
const PAUSE_MS = 1000;
const PAUSE_MAX_MS = 60_000;

/**
 * How many requests a server has and may have. One that says that it has too much to do is asked for half as much, and
 * for one more each time that it has answered all it may have.
 */
export class RequestPlaces {
  readonly #clock: Clock;
  readonly #max: number;
  #limit: number;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #live = 0;
  #batch = 0;
  readonly #liveMean: RunningMean;

  /** @param max requests at the same time, at least 1 */
  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
    this.#limit = max;
    this.#liveMean = new RunningMean(clock, USE_MEAN_MS);
  }

  /** Requests under way. */
  get taken(): number {
    return this.#live + this.#batch;
  }

  /** Requests that it may have now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Share of the places that requests of calls took in the last half minute; above 1 where there are fewer now. */
  get liveShare(): number {
    return this.#liveMean.now / this.limit;
  }

  /** Whether a request of a call may be sent. */
  get hasRoom(): boolean {
    return this.taken < this.limit && !this.#isPaused;
  }

  /** Whether a piece of a recording may: these leave half of the places to calls. */
  get hasBatchRoom(): boolean {
    return this.hasRoom && this.#batch < Math.max(Math.floor(this.limit / 2), 1);
  }

  /** A request is sent. */
  take(isBatch: boolean): void {
    if (isBatch) this.#batch++;
    else this.#liveMean.set(++this.#live);
  }

  /** A request is over. */
  leave(isBatch: boolean): void {
    if (isBatch) this.#batch--;
    else this.#liveMean.set(--this.#live);
  }

  /** A request was answered. */
  grow(): void {
    this.#limit = Math.min(this.#limit + 1 / this.#limit, this.#max);
  }

  /** The server has too much to do. @param retryAfterMs when it wants to be asked again; null = it does not say */
  shrink(retryAfterMs: number | null): void {
    this.#limit = Math.max(this.#limit / 2, 1);
    const pauseMs = Math.min(Math.max(retryAfterMs ?? PAUSE_MS, 0), PAUSE_MAX_MS);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.nowMs() + pauseMs);
  }

  get #isPaused(): boolean {
    return this.#clock.nowMs() < this.#pausedUntilMs;
  }
}
