/**
 * Session timers (RFC 4028) as headers: what a request asks for, what is agreed, and what an answer says. Pure; who
 * keeps the time is `trunks/sip/session-timer.ts`.
 */
import { optionTagsIn } from './headers.ts';

/** No session may be refreshed more often than an interval of this allows (RFC 4028 §4), in seconds. */
export const MIN_SESSION_S = 90;
/** A day: what asks for more is given this. */
export const MAX_SESSION_S = 86_400;
/** The option tag, in lower case. */
export const TIMER_TAG = 'timer';

/** A side of one transaction: `uac` sent its request, `uas` its answer. */
export type TimerRole = 'uac' | 'uas';

/** What is agreed: within `intervalS` seconds the refresher shows that the call still exists. */
export interface SessionTerms {
  readonly intervalS: number;
  readonly refresher: TimerRole;
}

/** What a message says of session timers. */
export interface TimerHeaders {
  /** `timer` is in Supported or Require. */
  readonly supported: boolean;
  /** Session-Expires; `refresher` null = left to the other side. Null = not there, or none. */
  readonly expires: { readonly intervalS: number; readonly refresher: TimerRole | null } | null;
  /** Min-SE, in seconds; never below {@link MIN_SESSION_S}. */
  readonly minimumS: number;
}

/** Reads them; `values` gives all values of a header, by its name in lower case. */
export function readTimerHeaders(values: (name: string) => readonly string[]): TimerHeaders {
  const [, seconds] = /^\s*(\d{1,10})/.exec(values('min-se')[0] ?? '') ?? [];
  return {
    supported: optionTagsIn([...values('supported'), ...values('require')]).includes(TIMER_TAG),
    expires: readExpires(values('session-expires')[0] ?? ''),
    minimumS: Math.max(MIN_SESSION_S, Number(seconds ?? 0)),
  };
}

function readExpires(value: string): TimerHeaders['expires'] {
  const [, seconds] = /^\s*(\d{1,10})\s*(?:;|$)/.exec(value) ?? [];
  if (seconds === undefined || Number(seconds) === 0) return null;
  const [, refresher] = /;\s*refresher\s*=\s*"?(uac|uas)\b/i.exec(value) ?? [];
  const role = refresher?.toLowerCase();
  return { intervalS: Number(seconds), refresher: role === 'uac' || role === 'uas' ? role : null };
}

/**
 * What is agreed in the answer to a request (RFC 4028 §9); `wantedS` = what we wish ourselves, 0 = nothing. `too-small`
 * = to be refused with 422; null = no timer. Whoever asks for one refreshes unless it leaves it to the other side; a
 * peer that does not know timers gets none.
 */
export function answerTerms(asked: TimerHeaders, wantedS: number): SessionTerms | 'too-small' | null {
  const { supported, expires, minimumS } = asked;
  if (!supported) return null;
  if (expires !== null && expires.intervalS < MIN_SESSION_S) return 'too-small';
  // An answer may shorten what was asked for, and never lengthens it (RFC 4028 §9), even where the minimum is beyond
  // it.
  const longestS = Math.min(expires?.intervalS ?? MAX_SESSION_S, MAX_SESSION_S);
  if (expires === null && wantedS === 0) return null;
  return {
    intervalS: Math.min(longestS, Math.max(wantedS || MAX_SESSION_S, minimumS)),
    refresher: expires === null ? 'uas' : (expires.refresher ?? 'uac'),
  };
}

/** What the answer to a request of ours has agreed to (RFC 4028 §7.2); null = no timer. */
export function agreedTerms({ expires }: TimerHeaders): SessionTerms | null {
  if (expires === null) return null;
  return {
    intervalS: Math.min(Math.max(expires.intervalS, MIN_SESSION_S), MAX_SESSION_S),
    refresher: expires.refresher ?? 'uac',
  };
}

/**
 * The headers of an answer that agrees to `terms`; none when there is no timer. Who asked must obey where it is to
 * refresh (RFC 4028 §9).
 */
export function answerHeaders(terms: SessionTerms | null): string[] {
  if (terms === null) return [];
  const header = `Session-Expires: ${terms.intervalS};refresher=${terms.refresher}`;
  return terms.refresher === 'uac' ? [header, `Require: ${TIMER_TAG}`] : [header];
}

/**
 * The headers of a request that asks for `intervalS` seconds. `refresher` null = the other side decides; `minimumS`
 * above the default is repeated.
 */
export function requestHeaders(intervalS: number, refresher: TimerRole | null, minimumS: number): string[] {
  const role = refresher === null ? '' : `;refresher=${refresher}`;
  const expires = `Session-Expires: ${intervalS}${role}`;
  return minimumS > MIN_SESSION_S ? [expires, `Min-SE: ${minimumS}`] : [expires];
}
