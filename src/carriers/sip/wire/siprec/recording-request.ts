/** Requests that ask us to record a call (RFC 7866): how they are told from other calls, and what they may ask for. */
import { optionTagsIn, type SipHeaders } from '../headers.ts';
import type { SessionDescription } from '../session-description.ts';

/** The option tag, in lower case. */
export const SIPREC_TAG = 'siprec';
/** A feature tag in the Contact of who sends a recording (RFC 7866 §6.1.1); ours is `+sip.srs`. */
const SENDER_FEATURE = /;\s*\+sip\.src(?![\w.-])/i;
/** What our Contact says. */
export const RECORDER_FEATURE = ';+sip.srs';
const SWAP = /;\s*swap(?:=(?:on|true|1|yes))?(?=[;@>]|$)/i;

/**
 * Whether a call is a recording. Vendors say so in different ways: they require it, their Contact says so, or there are
 * metadata. Without any of these it is one that offers several streams of sound, all of which only send.
 */
export function isRecording(message: SipHeaders, metadata: string | null, offer: SessionDescription | null): boolean {
  if (metadata !== null || requiresRecording(message)) return true;
  if (SENDER_FEATURE.test(message.getHeader('contact') ?? '')) return true;
  const streams = offer?.media.filter(({ kind, port }) => kind === 'audio' && port !== 0) ?? [];
  return streams.length > 1 && streams.every(({ direction }) => direction === 'sendonly' || direction === 'inactive');
}

/** Whether the request must be refused by who does not record (RFC 7866 §6.1.1). */
export function requiresRecording(message: SipHeaders): boolean {
  return optionTagsIn(message.getHeaders('require')).includes(SIPREC_TAG);
}

/**
 * Whether the tracks are to change places: `sip:rec;swap@host`, `sip:rec@host;swap` as Request-URI, or the call's
 * parameter `swap`.
 */
export function wantsSwap(uri: string | null, parameters: Readonly<Record<string, string>>): boolean {
  const given = parameters['swap']?.trim().toLowerCase();
  if (given !== undefined) return given !== 'off' && given !== 'false' && given !== '0';
  return SWAP.test(uri ?? '');
}
