/**
 * Rate limits for SIP messages: outside calls for each source and for all sources together, and within each call.
 */
import type { Clock } from '../../foundation/clock.ts';
import { type Rate, rateOf, TokenBucket, TokenBuckets } from '../../foundation/token-buckets.ts';

/**
 * All sources together. Reading a request costs a millisecond or more. This keeps the rest of the CPU for the running
 * calls, even when an attacker forges any number of sources. What one source may send is in source-limits.ts.
 */
const OF_ALL = rateOf({ perSecond: 400, burst: 400 });
/**
 * Per call. This is far more than pressed keys and changes of a session description need, and keeps one call from
 * delaying the others.
 */
const OF_A_CALL = rateOf({ perSecond: 20, burst: 100 });
/**
 * TLS handshakes of one source, and of all together: each costs some milliseconds. Every phone of an office may come at
 * once.
 */
const HANDSHAKES_OF_A_SOURCE = rateOf({ perSecond: 5, burst: 50 });
const HANDSHAKES_OF_ALL = rateOf({ perSecond: 50, burst: 100 });
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

/** Limits messages outside of calls, by source and in all, and those within each call. */
export class RequestLimit {
  readonly #clock: Clock;
  readonly #limitOf: (address: string) => Rate;
  readonly #sources = new TokenBuckets(SOURCES_MAX);
  readonly #calls = new TokenBuckets(CALLS_MAX);
  readonly #all: TokenBucket;

  /** `limitOf` = what one source may send. */
  constructor(clock: Clock, limitOf: (address: string) => Rate) {
    this.#clock = clock;
    this.#limitOf = limitOf;
    this.#all = new TokenBucket(OF_ALL.burst, clock.nowMs());
  }

  /** Takes the tokens for one message of `bytes` outside calls; returns false if `address` or all sources have none. */
  take(address: string, bytes: number): boolean {
    const nowMs = this.#clock.nowMs();
    const tokens = tokensOf(bytes);
    return this.#sources.take(address, this.#limitOf(address), nowMs, tokens) && this.#all.take(OF_ALL, nowMs, tokens);
  }

  /** Takes the tokens for one message of `bytes` within the call of this Call-ID; returns false if it has none. */
  takeWithin(callId: string, bytes: number): boolean {
    return this.#calls.take(callId, OF_A_CALL, this.#clock.nowMs(), tokensOf(bytes));
  }
}

/** Limits the handshakes of peers that connect over TLS. */
export class HandshakeLimit {
  readonly #clock: Clock;
  readonly #sources = new TokenBuckets(SOURCES_MAX);
  readonly #all: TokenBucket;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new TokenBucket(HANDSHAKES_OF_ALL.burst, clock.nowMs());
  }

  /** Whether `address` may begin one more. */
  take(address: string): boolean {
    const nowMs = this.#clock.nowMs();
    const ofSource = this.#sources.take(address, HANDSHAKES_OF_A_SOURCE, nowMs);
    return ofSource && this.#all.take(HANDSHAKES_OF_ALL, nowMs);
  }
}

function tokensOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN) - 1);
}
