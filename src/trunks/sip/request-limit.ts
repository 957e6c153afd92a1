/** How much may be asked for outside calls, by each source and by all: buckets of tokens, which fill again by themselves. */
import type { Clock } from '../../clock.ts';

interface Rate {
  readonly perSecond: number;
  /** Most tokens of a bucket. */
  readonly burst: number;
}

/** All phones of an office at once after a power cut, then more than a trunk that sets up calls for all of a machine. */
const OF_A_SOURCE: Rate = { perSecond: 20, burst: 100 };
/** Reading a request costs a millisecond and more; what is left is for the calls that are there, whoever forges whatever number of sources. */
const OF_ALL: Rate = { perSecond: 400, burst: 400 };
/** Sources that are known; beyond that the one that asked longest ago is forgotten, which gives it no more than {@link OF_ALL} has. */
const SOURCES_MAX = 1024;

class Bucket {
  readonly #rate: Rate;
  #tokens: number;
  #atMs: number;

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#atMs = nowMs;
  }

  take(nowMs: number): boolean {
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) * perSecond) / 1000);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}

export class RequestLimit {
  readonly #clock: Clock;
  /** The one that was asked last comes last. */
  readonly #sources = new Map<string, Bucket>();
  readonly #all: Bucket;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new Bucket(OF_ALL, clock.nowMs());
  }

  /** Whether `address` may ask once more; it has done so then. */
  take(address: string): boolean {
    const nowMs = this.#clock.nowMs();
    return this.#bucketOf(address, nowMs).take(nowMs) && this.#all.take(nowMs);
  }

  #bucketOf(address: string, nowMs: number): Bucket {
    const bucket = this.#sources.get(address) ?? new Bucket(OF_A_SOURCE, nowMs);
    this.#sources.delete(address);
    this.#sources.set(address, bucket);
    if (this.#sources.size > SOURCES_MAX) this.#forgetOldest();
    return bucket;
  }

  #forgetOldest(): void {
    const [oldest] = this.#sources.keys();
    if (oldest !== undefined) this.#sources.delete(oldest);
  }
}
