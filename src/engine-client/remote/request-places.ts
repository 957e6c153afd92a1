import type { Clock } from '../../foundation/clock.ts';
import { RunningMean, USE_MEAN_MS } from '../../foundation/running-mean.ts';

/** A server that is busy and does not say for how long is left alone for this time, and never for longer than that. */
const PAUSE_MS = 1000;
const PAUSE_MAX_MS = 60_000;

/** What calls took of the places at most in the last 5 to 10 s is kept free for them. */
const PEAK_MS = 5000;

/**
 * How many requests a server has and may have. One that says that it has too much to do is asked for half as much, and
 * for one more each time that it has answered all it may have. Pieces of recordings take what calls leave: one may
 * always be there, and gives way when a call needs its place.
 */
export class RequestPlaces {
  readonly #clock: Clock;
  readonly #max: number;
  #limit: number;
  #batchLimit: number;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #batchPausedUntilMs = Number.NEGATIVE_INFINITY;
  #live = 0;
  #batch = 0;
  readonly #liveMean: RunningMean;
  /** The most of {@link #live} since {@link #peakFromMs}, and in as long a time before. */
  #peak = 0;
  #peakBefore = 0;
  #peakFromMs: number;

  /** @param max requests at the same time, at least 1 */
  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
    this.#limit = max;
    this.#batchLimit = Math.max(max / 2, 1);
    this.#peakFromMs = clock.nowMs();
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

  /** Share of the places that requests of calls have now. */
  get liveNow(): number {
    return this.#live / this.limit;
  }

  /** Whether there is a free place. */
  get hasRoom(): boolean {
    return this.taken < this.limit && !this.#isPaused;
  }

  /** Whether a request of a call may be sent where pieces of recordings give way. */
  get hasRoomForCalls(): boolean {
    return this.#live < this.limit && !this.#isPaused;
  }

  /** Whether there are more requests than there may be: a piece of a recording has to give way. */
  get isOverfull(): boolean {
    return this.taken > this.limit;
  }

  /** Whether a piece of a recording may be sent: at most half of the places are theirs, and none that calls need. */
  get hasBatchRoom(): boolean {
    if (!this.hasRoom || this.#clock.nowMs() < this.#batchPausedUntilMs) return false;
    this.#rollPeak();
    const left = this.limit - Math.max(this.#peak, this.#peakBefore);
    return this.#batch < Math.max(Math.min(this.#batchMost, left), 1);
  }

  /** Pieces of recordings that it may have where no calls are. */
  get batchMax(): number {
    return this.#batchMost;
  }

  /** A request is sent. */
  take(isBatch: boolean): void {
    if (isBatch) this.#batch++;
    else this.#setLive(this.#live + 1);
  }

  /** A request is over. */
  leave(isBatch: boolean): void {
    if (isBatch) this.#batch--;
    else this.#setLive(this.#live - 1);
  }

  /** A request was answered. */
  grow(isBatch = false): void {
    if (isBatch) this.#batchLimit = Math.min(this.#batchLimit + 1 / this.#batchLimit, Math.max(this.#max / 2, 1));
    this.#limit = Math.min(this.#limit + 1 / this.#limit, this.#max);
  }

  /**
   * The server has too much to do. Where it said so to a piece of a recording, recordings alone hold back: calls learn
   * it by requests of their own.
   * @param retryAfterMs when it wants to be asked again; null = it does not say
   */
  shrink(retryAfterMs: number | null, isBatch = false): void {
    const untilMs = this.#clock.nowMs() + Math.min(Math.max(retryAfterMs ?? PAUSE_MS, 0), PAUSE_MAX_MS);
    if (isBatch) {
      this.#batchLimit = Math.max(this.#batchMost / 2, 1);
      this.#batchPausedUntilMs = Math.max(this.#batchPausedUntilMs, untilMs);
      return;
    }
    this.#limit = Math.max(this.#limit / 2, 1);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }

  get #batchMost(): number {
    return Math.max(Math.floor(Math.min(this.limit / 2, this.#batchLimit)), 1);
  }

  #setLive(live: number): void {
    this.#rollPeak();
    this.#live = live;
    this.#peak = Math.max(this.#peak, live);
    this.#liveMean.set(live);
  }

  #rollPeak(): void {
    const passedMs = this.#clock.nowMs() - this.#peakFromMs;
    if (passedMs < PEAK_MS) return;
    this.#peakBefore = passedMs < 2 * PEAK_MS ? this.#peak : this.#live;
    this.#peak = this.#live;
    this.#peakFromMs = this.#clock.nowMs();
  }

  get #isPaused(): boolean {
    return this.#clock.nowMs() < this.#pausedUntilMs;
  }
}
