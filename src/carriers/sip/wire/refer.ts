/** Transfers by REFER (RFC 3515): where one leads, and what the peer tells of it by NOTIFY (RFC 3420). */
import { contentTypeOf } from './bodies.ts';
import type { SipHeaders } from './headers.ts';
import { hostOf } from './uris.ts';

const TARGET_MAX_CHARS = 256;
/** A SIP or telephone URI without the headers that would make more of it than a call. */
const SIP_URI = /^sips?:[^\s<>"?,]+$/i;
const TEL_URI = /^tel:\+?[\d().*#-]+$/i;
const ADDRESS = /^[^\s<>"?,:/@]+@[^\s<>"?,/@]+$/;
/** A telephone number as people write it. */
const WRITTEN_NUMBER = /^\+?[\s().-]*\d[\d\s().-]*$/;
const USER = /^[\w.+*#!~'-]+$/;

/** What a NOTIFY tells of a transfer. */
export interface ReferProgress {
  /** The status of the call that the peer makes; null = it does not say. */
  readonly statusCode: number | null;
  /** The peer tells no more. */
  readonly isLast: boolean;
}

/**
 * The URI for Refer-To. `to` = a SIP or tel URI, `user@host`, or a number or name at `host` (with its port, if it has
 * one). Null = none of these.
 */
export function referTarget(to: string, host: string): string | null {
  const text = to.trim();
  if (text.length > TARGET_MAX_CHARS || /\p{Cc}/u.test(text)) return null;
  if (SIP_URI.test(text)) return hostOf(text) === null ? null : text;
  if (TEL_URI.test(text)) return text;
  if (ADDRESS.test(text)) return `sip:${text.replaceAll('#', '%23')}`;
  const user = WRITTEN_NUMBER.test(text) ? text.replace(/[\s().-]/g, '') : text;
  return USER.test(user) ? `sip:${user.replaceAll('#', '%23')}@${host}` : null;
}

/** Whether a NOTIFY is about a REFER (`Event: refer`). */
export function isAboutRefer(message: SipHeaders): boolean {
  return message.getHeader('event')?.split(';')[0]?.trim().toLowerCase() === 'refer';
}

/** What a NOTIFY about a REFER tells. Never throws. */
export function readReferProgress(message: SipHeaders & { readonly body: string }): ReferProgress {
  const [, status] = /^SIP\/2\.0[ \t]+([1-6]\d\d)(?!\d)/i.exec(message.body) ?? [];
  const isFragment = contentTypeOf(message) === 'message/sipfrag';
  return {
    statusCode: status === undefined || !isFragment ? null : Number(status),
    isLast: /^\s*terminated\b/i.test(message.getHeader('subscription-state') ?? ''),
  };
}

/** What a final status other than success says of a call that was made (RFC 3261 §21). */
export function failureOf(statusCode: number): 'busy' | 'unanswered' | 'refused' {
  if (statusCode === 486 || statusCode === 600) return 'busy';
  return statusCode === 408 || statusCode === 480 || statusCode === 487 ? 'unanswered' : 'refused';
}
