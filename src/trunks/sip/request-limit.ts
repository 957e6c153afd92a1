/** How much each source may ask for outside calls: a bucket of tokens for each of them, which fills again by itself. */
import type { Clock } from '../../clock.ts';

/** A trunk that sets up calls at this rate is a big one; reading a request costs about a millisecond. */
const REQUESTS_PER_SECOND = 50;
/** All phones of an office after a power cut. */
const BURST = 100;
const FULL_AFTER_MS = (BURST * 1000) / REQUESTS_PER_SECOND;
/** Sources with a bucket of their own. */
const SOURCES_MAX = 1024;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class RequestLimit {
  readonly #clock: Clock;
  /** The one that was asked last comes last. */
  readonly #buckets = new Map<string, Bucket>();
  /** For sources beyond the most: who forges so many has this much for all of them. */
  readonly #shared: Bucket = { tokens: BURST, atMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether `address` may ask once more; it has done so then. */
  take(address: string): boolean {
    const nowMs = this.#clock.nowMs();
    const bucket = this.#bucketOf(address, nowMs);
    bucket.tokens = Math.min(BURST, bucket.tokens + ((nowMs - bucket.atMs) * REQUESTS_PER_SECOND) / 1000);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  #bucketOf(address: string, nowMs: number): Bucket {
    const known = this.#buckets.get(address);
    if (known === undefined && this.#buckets.size >= SOURCES_MAX && !this.#forgetOldest(nowMs)) return this.#shared;
    const bucket = known ?? { tokens: BURST, atMs: nowMs };
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    return bucket;
  }

  /** A bucket that must be full by now says nothing. False when there is none. */
  #forgetOldest(nowMs: number): boolean {
    for (const [address, { atMs }] of this.#buckets) {
      if (nowMs - atMs < FULL_AFTER_MS) return false;
      this.#buckets.delete(address);
      return true;
    }
    return false;
  }
}
