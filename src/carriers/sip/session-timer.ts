/**
 * The session timer of one call (RFC 4028). Refreshes the session in time where that is our part, and ends a call whose
 * peer does not refresh it. `protocols/sip/session-timer.ts` negotiates the terms.
 */
import type { IncomingRequestMessage, IncomingResponseMessage } from 'sip.js/lib/core/index.js';
import type { Clock, Timer } from '../../foundation/clock.ts';
import {
  agreedTerms,
  answerHeaders,
  answerTerms,
  MAX_SESSION_S,
  MIN_SESSION_S,
  readTimerHeaders,
  requestHeaders,
  type SessionTerms,
  type TimerHeaders,
  type TimerRole,
} from './wire/session-timer.ts';

/** How long we wait for the answer to a refresh (64 × T1). */
const ANSWER_TIMEOUT_MS = 32_000;
/** When we retry after a refusal that does not mean the end of the call, unless it has a Retry-After. */
const RETRY_MS = 10_000;
/** When we retry after the peer refused our interval as too small. */
const RAISED_MS = 1000;
/** We end the call this long before the session expires, or a third of the interval (RFC 4028 §10). */
const MARGIN_MAX_MS = 32_000;

/** The request that refreshes a call. */
export type RefreshMethod = 'UPDATE' | 'INVITE';
/** Why a session is over: no refresh came in time, or the peer no longer knows of the call. */
export type SessionEnd = 'expired' | 'gone';

/** One refresh of a session: who sent it, and its result. */
export interface RefreshEvent {
  readonly by: 'us' | 'peer';
  readonly result: 'accepted' | 'failed' | SessionEnd;
}

interface SessionTimerOptions {
  readonly clock: Clock;
  /** SIP_SESSION_EXPIRES_SECONDS */
  readonly wantedS: number;
  /** Whether we placed the call. If both sides send a request at once, the caller waits longer (RFC 3261 §14.1). */
  readonly isOurs: boolean;
  /**
   * Sends a refresh with these headers; `onFinal` gets its final answer. Throws while another transaction is in
   * progress.
   */
  send(method: RefreshMethod, headers: readonly string[], onFinal: (answer: IncomingResponseMessage) => void): void;
  /** The call must be ended. Called once. */
  onOver(why: SessionEnd, terms: SessionTerms): void;
  onRefresh(event: RefreshEvent): void;
  /** Numbers from 0 to 1, below 1. */
  readonly random?: () => number;
}

/** The headers of a message that {@link readTimerHeaders} reads. */
export function timerHeadersOf(message: IncomingRequestMessage | IncomingResponseMessage): TimerHeaders {
  return readTimerHeaders((name) => message.getHeaders(name));
}

/** Whether the sender of a message supports UPDATE; null = the message has no Allow header. */
export function allowsUpdate(message: IncomingRequestMessage | IncomingResponseMessage): boolean | null {
  const allowed = message.getHeaders('allow');
  return allowed.length === 0 ? null : allowed.some((value) => /\bUPDATE\b/i.test(value));
}

export class SessionTimer {
  readonly #options: SessionTimerOptions;
  #terms: SessionTerms | null = null;
  #weRefresh = false;
  #minimumS = MIN_SESSION_S;
  #method: RefreshMethod = 'INVITE';
  #next: Timer | null = null;
  #expiry: Timer | null = null;
  /** The refresh that waits for its answer. Answers to older ones are ignored. */
  #pending: { readonly timer: Timer } | null = null;
  #stopped = false;

  constructor(options: SessionTimerOptions) {
    this.#options = options;
  }

  /** The terms that we accept from a request of the peer; `too-small` = refuse the request with {@link tooSmall}. */
  weigh(message: IncomingRequestMessage): SessionTerms | 'too-small' | null {
    return answerTerms(timerHeadersOf(message), this.#options.wantedS);
  }

  /**
   * We accept the peer's request, which begins or refreshes the session, on these terms. Returns the headers of our
   * answer.
   */
  answered(message: IncomingRequestMessage, terms: SessionTerms | null): string[] {
    if (this.#terms !== null) this.#options.onRefresh({ by: 'peer', result: 'accepted' });
    this.#minimumS = Math.max(this.#minimumS, timerHeadersOf(message).minimumS);
    this.#begin(message, terms, 'uas');
    return answerHeaders(terms);
  }

  /** The peer has accepted our INVITE, with which the session begins. */
  accepted(message: IncomingResponseMessage): void {
    this.#begin(message, agreedTerms(timerHeadersOf(message)), 'uac');
  }

  /** The headers of an UPDATE of ours that is sent for another reason: without them it would end the timer (§7.4). */
  get headers(): readonly string[] {
    if (this.#terms === null) return [];
    return requestHeaders(this.#terms.intervalS, this.#weRefresh ? 'uac' : 'uas', this.#minimumS);
  }

  /** The peer has accepted such an UPDATE, which refreshes the session as well. */
  refreshed(answer: IncomingResponseMessage): void {
    if (this.#terms !== null) this.#begin(answer, this.#termsOf(answer, this.#terms), 'uac');
  }

  /** The call is over. */
  stop(): void {
    this.#stopped = true;
    this.#clear();
  }

  #begin(
    message: IncomingRequestMessage | IncomingResponseMessage,
    terms: SessionTerms | null,
    weAre: TimerRole,
  ): void {
    this.#clear();
    if (this.#stopped) return;
    const knowsUpdate = allowsUpdate(message);
    if (knowsUpdate !== null) this.#method = knowsUpdate ? 'UPDATE' : 'INVITE';
    this.#terms = terms;
    if (terms === null) return;
    const { clock } = this.#options;
    const intervalMs = terms.intervalS * 1000;
    this.#weRefresh = terms.refresher === weAre;
    if (this.#weRefresh) this.#next = clock.after(intervalMs / 2, () => this.#refresh(), true);
    this.#expiry = clock.after(intervalMs - Math.min(MARGIN_MAX_MS, intervalMs / 3), () => this.#end('expired'), true);
  }

  #refresh(): void {
    const { clock, send, random = Math.random, isOurs } = this.#options;
    if (this.#terms === null || this.#pending !== null) return;
    const pending = { timer: clock.after(ANSWER_TIMEOUT_MS, () => this.#end('gone'), true) };
    this.#pending = pending;
    try {
      send(this.#method, requestHeaders(this.#terms.intervalS, 'uac', this.#minimumS), (answer) => {
        if (this.#pending === pending) this.#settle(answer);
      });
    } catch {
      this.#again(glareMs(isOurs, random));
    }
  }

  #settle(answer: IncomingResponseMessage): void {
    const status = answer.statusCode ?? 500;
    const { random = Math.random, isOurs, onRefresh } = this.#options;
    if (status < 300) {
      onRefresh({ by: 'us', result: 'accepted' });
      if (this.#terms !== null) this.#begin(answer, this.#termsOf(answer, this.#terms), 'uac');
      return;
    }
    if (status === 408 || status === 481) {
      this.#end('gone');
      return;
    }
    if (status === 491) this.#again(glareMs(isOurs, random));
    else if (status === 422 && this.#raise(timerHeadersOf(answer).minimumS)) this.#again(RAISED_MS);
    else if (this.#method === 'UPDATE' && (status === 405 || status === 501)) {
      this.#method = 'INVITE';
      this.#again(0);
    } else {
      onRefresh({ by: 'us', result: 'failed' });
      this.#again(retryAfterMs(answer));
    }
  }

  /** If the answer has no terms, we keep the earlier ones: an unnecessary refresh does no harm. */
  #termsOf(answer: IncomingResponseMessage, before: SessionTerms): SessionTerms {
    const refresher = this.#weRefresh ? 'uac' : 'uas';
    return agreedTerms(timerHeadersOf(answer)) ?? { intervalS: before.intervalS, refresher };
  }

  /** Raises our interval to the peer's minimum; false if that is not longer, or too long (RFC 4028 §7.4). */
  #raise(minimumS: number): boolean {
    if (this.#terms === null || minimumS <= this.#terms.intervalS || minimumS > MAX_SESSION_S) return false;
    this.#minimumS = minimumS;
    this.#terms = { ...this.#terms, intervalS: minimumS };
    return true;
  }

  #again(delayMs: number): void {
    this.#pending?.timer.cancel();
    this.#pending = null;
    this.#next?.cancel();
    this.#next = this.#options.clock.after(delayMs, () => this.#refresh(), true);
  }

  #end(why: SessionEnd): void {
    const terms = this.#terms;
    if (terms === null) return;
    this.#options.onRefresh({ by: this.#weRefresh ? 'us' : 'peer', result: why });
    this.stop();
    this.#options.onOver(why, terms);
  }

  #clear(): void {
    for (const timer of [this.#next, this.#expiry, this.#pending?.timer]) timer?.cancel();
    this.#pending = null;
    if (this.#stopped) this.#terms = null;
  }
}

/** RFC 3261 §14.1: the caller waits longer, so that the two requests do not collide again. */
function glareMs(isOurs: boolean, random: () => number): number {
  return isOurs ? 2100 + random() * 1900 : random() * 2000;
}

function retryAfterMs(answer: IncomingResponseMessage): number {
  const [seconds] = /^\d{1,4}/.exec(answer.getHeader('retry-after') ?? '') ?? [];
  return seconds === undefined ? RETRY_MS : Math.max(Number(seconds) * 1000, 1000);
}

/** The refusal of an interval that is too small (RFC 4028 §6). A new object each time, because sip.js changes it. */
export function tooSmall(): { statusCode: number; extraHeaders: string[] } {
  return { statusCode: 422, extraHeaders: [`Min-SE: ${MIN_SESSION_S}`] };
}
