/**
 * How much may be asked for outside calls, by each source and by all, and within each call: buckets of tokens, which
 * fill again by themselves.
 */
import type { Clock } from '../../foundation/clock.ts';

interface Rate {
  readonly perSecond: number;
  /** Most tokens of a bucket. */
  readonly burst: number;
}

/**
 * All phones of an office at once after a power cut, then more than a trunk that sets up calls for all of a machine.
 */
const OF_A_SOURCE: Rate = { perSecond: 20, burst: 100 };
/**
 * Reading a request costs a millisecond and more; what is left is for the calls that are there, whoever forges whatever
 * number of sources.
 */
const OF_ALL: Rate = { perSecond: 400, burst: 400 };
/**
 * Far more than keys are pressed and descriptions change; whoever has a call may not keep the others' waiting either.
 */
const OF_A_CALL: Rate = { perSecond: 20, burst: 100 };
/**
 * Sources that are known; beyond that the one that asked longest ago is forgotten, which gives it no more than {@link
 * OF_ALL} has.
 */
const SOURCES_MAX = 1024;
/** More than there are calls. */
const CALLS_MAX = 10_000;
/**
 * Reading takes as long as there is something to be read: so many bytes cost a token. A telephone's message, of up to
 * two of these, costs one.
 */
const BYTES_PER_TOKEN = 1024;

class Bucket {
  readonly #rate: Rate;
  #tokens: number;
  #atMs: number;

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#atMs = nowMs;
  }

  take(nowMs: number, tokens: number): boolean {
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) * perSecond) / 1000);
    this.#atMs = nowMs;
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }
}

/** A bucket for each name; the one that was asked for last comes last. */
class Buckets {
  readonly #rate: Rate;
  readonly #max: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, max: number) {
    this.#rate = rate;
    this.#max = max;
  }

  take(name: string, nowMs: number, tokens: number): boolean {
    const bucket = this.#buckets.get(name) ?? new Bucket(this.#rate, nowMs);
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > this.#max) this.#forgetOldest();
    return bucket.take(nowMs, tokens);
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

export class RequestLimit {
  readonly #clock: Clock;
  readonly #sources = new Buckets(OF_A_SOURCE, SOURCES_MAX);
  readonly #calls = new Buckets(OF_A_CALL, CALLS_MAX);
  readonly #all: Bucket;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new Bucket(OF_ALL, clock.nowMs());
  }

  /** Whether `address` may send one more message of `bytes` outside calls; it has done so then. */
  take(address: string, bytes: number): boolean {
    const nowMs = this.#clock.nowMs();
    return this.#sources.take(address, nowMs, tokensOf(bytes)) && this.#all.take(nowMs, tokensOf(bytes));
  }

  /** Whether one more message of `bytes` may come within the call of this Call-ID; it has done so then. */
  takeWithin(callId: string, bytes: number): boolean {
    return this.#calls.take(callId, this.#clock.nowMs(), tokensOf(bytes));
  }
}

function tokensOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN) - 1);
}
