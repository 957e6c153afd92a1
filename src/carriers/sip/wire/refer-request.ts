/** What a REFER asks for (RFC 3515): whom to call, in the place of which dialog (RFC 3891), and in whose name. */
import { SipFault } from './fault.ts';
import { optionTagsIn, type SipHeaders } from './headers.ts';
import { REPLACES_TAG, type ReplacedDialog, readReplaces } from './replaces.ts';

/** The option tag: nobody wants to hear what becomes of the transfer (RFC 4488). */
export const NO_REPORT_TAG = 'norefersub';

const TARGET_MAX_CHARS = 1024;
const REFERRED_BY_MAX_CHARS = 512;
const EMBEDDED_MAX = 16;
const SIP_URI = /^sips?:(?:[^@]+@)?[\w.[\]:-]+(?:;.*)?$/i;
const TEL_URI = /^tel:\+?(?=[().*#-]*\d)[\d().*#-]+(?:;[^?]*)?$/i;

/** A call that somebody asks for. */
export interface ReferRequest {
  /** A sip, sips or tel URI, without the headers that were embedded in it. */
  readonly uri: string;
  /** The dialog that the call is to replace; null = none. */
  readonly replaces: ReplacedDialog | null;
  /** Whoever is called must know Replaces. */
  readonly requiresReplaces: boolean;
  /** The header Referred-By (RFC 3892) as it came; null = there is none that could be passed on. */
  readonly referredBy: string | null;
  /** What becomes of the call is to be told by NOTIFY. */
  readonly isReported: boolean;
}

/**
 * Reads a REFER; `targets` = the values of its Refer-To.
 * @throws SipFault 400, 416 (another scheme), 501 (another method than INVITE)
 */
export function readRefer(message: SipHeaders, targets: readonly string[]): ReferRequest {
  const [value] = targets;
  if (value === undefined || targets.length > 1) throw new SipFault(`${targets.length} headers Refer-To`, 'one');
  const { uri, embedded } = splitUri(uriIn(value));
  const replaces = embedded.get('replaces');
  return {
    uri,
    replaces: replaces === undefined ? null : readReplaces(replaces),
    requiresReplaces: optionTagsIn([embedded.get('require') ?? '']).includes(REPLACES_TAG),
    referredBy: referredBy(message),
    isReported: message.getHeader('refer-sub')?.split(';')[0]?.trim().toLowerCase() !== 'false',
  };
}

/**
 * RFC 3261 §20: a URI with a comma, question mark or semicolon stands in brackets. Asterisk's Transfer() writes it
 * without, parameters and headers included: what follows a bare URI is taken for its own, as pjsip does.
 */
function uriIn(value: string): string {
  if (value.length > TARGET_MAX_CHARS)
    throw new SipFault(`a Refer-To of ${value.length} characters`, `at most ${TARGET_MAX_CHARS}`);
  const text = value.trim();
  const [, bracketed, rest = ''] = /^(?:"(?:[^"\\]|\\.)*"\s*|[^"<>,]*)<([^<>"\s]+)>(.*)$/.exec(text) ?? [];
  const uri = bracketed ?? /^([^\s<>",]+)(?:\s+;[^,<>]*)?$/.exec(text)?.[1];
  if (uri === undefined || (rest !== '' && !/^\s*;[^,<>]*$/.test(rest)))
    throw new SipFault('a Refer-To that cannot be read', '<sip:user@host>');
  return uri;
}

/** Of the embedded headers only Replaces and Require are looked at (RFC 3261 §19.1.5: others may be meant badly). */
function splitUri(whole: string): { readonly uri: string; readonly embedded: ReadonlyMap<string, string> } {
  const isSip = /^sips?:./i.test(whole);
  if (!isSip && !TEL_URI.test(whole))
    throw new SipFault('another scheme in Refer-To', 'sip, sips or tel with a number', 416);
  // In the user a question mark is one (RFC 3261 §19.1.1).
  const from = isSip ? whole.indexOf('?', whole.indexOf('@') + 1) : -1;
  const uri = from < 0 ? whole : whole.slice(0, from);
  if (isSip && !SIP_URI.test(uri)) throw new SipFault('a Refer-To that names no host', 'sip:user@host');
  const [, method = 'INVITE'] = isSip ? (/;method=([^;]*)/i.exec(uri) ?? []) : [];
  if (method.toUpperCase() !== 'INVITE') throw new SipFault('another method in Refer-To', 'INVITE', 501);
  const embedded = new Map<string, string>();
  const pairs = from < 0 ? [] : whole.slice(from + 1).split('&');
  if (pairs.length > EMBEDDED_MAX) throw new SipFault(`${pairs.length} headers in Refer-To`, `at most ${EMBEDDED_MAX}`);
  for (const pair of pairs) {
    const [, name = '', text = ''] = /^([^=]*)=?(.*)/s.exec(pair) ?? [];
    const key = unescapeText(name).toLowerCase();
    if (embedded.has(key)) throw new SipFault('a header twice in Refer-To', 'each once');
    embedded.set(key, unescapeText(text));
  }
  return { uri: uri.replace(/;method=[^;]*/gi, ''), embedded };
}

function unescapeText(text: string): string {
  let plain: string;
  try {
    plain = decodeURIComponent(text);
  } catch {
    throw new SipFault('a Refer-To with a wrong escape', '%-escapes of UTF-8');
  }
  if (/\p{Cc}/u.test(plain)) throw new SipFault('a control character in Refer-To', 'none');
  return plain;
}

/** A signed body (RFC 3893) is not passed on, so neither is a header that names one. */
function referredBy(message: SipHeaders): string | null {
  const values = message.getHeaders('referred-by');
  const [value = ''] = values;
  const isPlain = value !== '' && value.length <= REFERRED_BY_MAX_CHARS && !/\p{Cc}/u.test(value);
  return values.length === 1 && isPlain && !/;\s*cid\s*=/i.test(value) ? value : null;
}
