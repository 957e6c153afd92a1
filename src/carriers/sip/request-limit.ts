/**
 * Rate limits for SIP messages: outside calls for each source and for all sources together, and within each call. They
 * are token buckets, which refill over time.
 */
import type { Clock } from '../../foundation/clock.ts';

/** A token bucket: how fast it fills, and how much it holds. */
export interface Rate {
  readonly perSecond: number;
  /** The most tokens that a bucket holds. */
  readonly burst: number;
}

/**
 * All sources together. Reading a request costs a millisecond or more. This keeps the rest of the CPU for the running
 * calls, even when an attacker forges any number of sources. What one source may send is in source-limits.ts.
 */
const OF_ALL: Rate = { perSecond: 400, burst: 400 };
/**
 * Per call. This is far more than pressed keys and changes of a session description need, and keeps one call from
 * delaying the others.
 */
const OF_A_CALL: Rate = { perSecond: 20, burst: 100 };
/**
 * TLS handshakes of one source, and of all together: each costs some milliseconds. Every phone of an office may come at
 * once.
 */
const HANDSHAKES_OF_A_SOURCE: Rate = { perSecond: 5, burst: 50 };
const HANDSHAKES_OF_ALL: Rate = { perSecond: 50, burst: 100 };
/**
 * Sources remembered at once. Beyond this number the one that was idle longest is forgotten and starts with a full
 * bucket; {@link OF_ALL} still limits it.
 */
const SOURCES_MAX = 1024;
/** More than there are calls. */
const CALLS_MAX = 10_000;
/**
 * The time to read a message grows with its size, so each of these units costs a token. The message of a phone has up
 * to two of them and costs one token.
 */
const BYTES_PER_TOKEN = 1024;

class Bucket {
  #tokens: number;
  #atMs: number;

  constructor(rate: Rate, nowMs: number) {
    this.#tokens = rate.burst;
    this.#atMs = nowMs;
  }

  /** The rate may be another one each time: it follows the number of calls. */
  take(nowMs: number, tokens: number, { perSecond, burst }: Rate): boolean {
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) * perSecond) / 1000);
    this.#atMs = nowMs;
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }
}

/** A bucket for each name, ordered by last use. */
class Buckets {
  readonly #max: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(max: number) {
    this.#max = max;
  }

  take(name: string, nowMs: number, tokens: number, rate: Rate): boolean {
    const bucket = this.#buckets.get(name) ?? new Bucket(rate, nowMs);
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > this.#max) this.#forgetOldest();
    return bucket.take(nowMs, tokens, rate);
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/** Limits messages outside of calls, by source and in all, and those within each call. */
export class RequestLimit {
  readonly #clock: Clock;
  readonly #rateOf: (address: string) => Rate;
  readonly #sources = new Buckets(SOURCES_MAX);
  readonly #calls = new Buckets(CALLS_MAX);
  readonly #all: Bucket;

  /** `rateOf` = what one source may send. */
  constructor(clock: Clock, rateOf: (address: string) => Rate) {
    this.#clock = clock;
    this.#rateOf = rateOf;
    this.#all = new Bucket(OF_ALL, clock.nowMs());
  }

  /** Takes the tokens for one message of `bytes` outside calls; returns false if `address` or all sources have none. */
  take(address: string, bytes: number): boolean {
    const nowMs = this.#clock.nowMs();
    const tokens = tokensOf(bytes);
    return this.#sources.take(address, nowMs, tokens, this.#rateOf(address)) && this.#all.take(nowMs, tokens, OF_ALL);
  }

  /** Takes the tokens for one message of `bytes` within the call of this Call-ID; returns false if it has none. */
  takeWithin(callId: string, bytes: number): boolean {
    return this.#calls.take(callId, this.#clock.nowMs(), tokensOf(bytes), OF_A_CALL);
  }
}

/** Limits the handshakes of peers that connect over TLS. */
export class HandshakeLimit {
  readonly #clock: Clock;
  readonly #sources = new Buckets(SOURCES_MAX);
  readonly #all: Bucket;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new Bucket(HANDSHAKES_OF_ALL, clock.nowMs());
  }

  /** Whether `address` may begin one more. */
  take(address: string): boolean {
    const nowMs = this.#clock.nowMs();
    const ofSource = this.#sources.take(address, nowMs, 1, HANDSHAKES_OF_A_SOURCE);
    return ofSource && this.#all.take(nowMs, 1, HANDSHAKES_OF_ALL);
  }
}

function tokensOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN) - 1);
}
