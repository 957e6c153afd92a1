/**
 * Retransmits messages that may have been lost on UDP: our requests until they are answered, and our refusals of an
 * INVITE until they are acknowledged (RFC 3261 §17, timers A, E and G). The transactions of sip.js leave this to their
 * transport.
 */

import type { Clock, Timer } from '../../foundation/clock.ts';
import type { ReceivedSip } from './wire/received-message.ts';
import type { SentSip } from './wire/sent-message.ts';

/** RFC 3261 §17.1.1.1: the estimated round trip, and the longest interval except for an INVITE. */
const T1_MS = 500;
const T2_MS = 4000;
/** Timers B, F and H: the transaction has failed after this time. */
const GIVE_UP_MS = 64 * T1_MS;
/** Messages retransmitted at once. A server with more open transactions has no capacity for repeats. */
const WAITING_MAX = 4096;
/**
 * Refusals retransmitted to one address at once. Otherwise requests with a forged source would be amplified tenfold.
 */
const REFUSALS_PER_HOST = 16;

interface Waiting {
  /** Where a refusal goes; null = a request. */
  readonly refusedHost: string | null;
  readonly again: () => void;
  readonly longestMs: number;
  readonly sinceMs: number;
  intervalMs: number;
  timer: Timer;
}

export class Retransmissions {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly #refusals = new Map<string, number>();

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** A message of ours has been sent; `again` sends the same bytes to the same place. */
  sent(message: SentSip, again: () => void): void {
    const { kind, method, statusCode, transaction, destination } = message;
    if (kind === 'request' ? method === 'ACK' : method !== 'INVITE' || (statusCode ?? 0) < 300) return;
    const key = keyOf(kind, transaction, method);
    const refusedHost = kind === 'response' ? (destination?.host ?? null) : null;
    if (this.#waiting.has(key) || this.#waiting.size >= WAITING_MAX || this.#isEnough(refusedHost)) return;
    // Only the interval of an INVITE grows without a limit (timer A).
    const longestMs = kind === 'request' && method === 'INVITE' ? GIVE_UP_MS : T2_MS;
    const timer = this.#clock.after(T1_MS, () => this.#repeat(key));
    this.#waiting.set(key, { refusedHost, again, longestMs, sinceMs: this.#clock.nowMs(), intervalMs: T1_MS, timer });
    this.#countRefusal(refusedHost, 1);
  }

  /** A message was received: an answer stops the retransmission of its request, an ACK that of its refusal. */
  received({
    kind,
    method,
    statusCode,
    transaction,
  }: Pick<ReceivedSip, 'kind' | 'method' | 'statusCode' | 'transaction'>): void {
    if (kind === 'request') {
      if (method === 'ACK') this.#forget(keyOf('response', transaction, 'INVITE'));
      return;
    }
    const key = keyOf('request', transaction, method);
    const isFinal = (statusCode ?? 0) >= 200;
    if (isFinal || method === 'INVITE') this.#forget(key);
    else this.#slowDown(key);
  }

  /** Stops all retransmissions. */
  close(): void {
    for (const key of [...this.#waiting.keys()]) this.#forget(key);
  }

  #repeat(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    if (this.#clock.nowMs() - waiting.sinceMs >= GIVE_UP_MS) {
      this.#forget(key);
      return;
    }
    waiting.again();
    waiting.intervalMs = Math.min(waiting.intervalMs * 2, waiting.longestMs);
    waiting.timer = this.#clock.after(waiting.intervalMs, () => this.#repeat(key));
  }

  /** After a provisional answer, a request other than INVITE is repeated every T2 (RFC 3261 §17.1.2.2). */
  #slowDown(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) waiting.intervalMs = T2_MS;
  }

  #forget(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    waiting.timer.cancel();
    this.#waiting.delete(key);
    this.#countRefusal(waiting.refusedHost, -1);
  }

  #isEnough(host: string | null): boolean {
    return host !== null && (this.#refusals.get(host) ?? 0) >= REFUSALS_PER_HOST;
  }

  #countRefusal(host: string | null, change: 1 | -1): void {
    if (host === null) return;
    const refusals = (this.#refusals.get(host) ?? 0) + change;
    if (refusals === 0) this.#refusals.delete(host);
    else this.#refusals.set(host, refusals);
  }
}

function keyOf(kind: 'request' | 'response', transaction: string, method: string): string {
  return `${kind} ${method} ${transaction}`;
}
