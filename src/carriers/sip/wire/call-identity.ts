/** What the messages of a SIP call say about it: its id, its parties, the caller's name and its parameters. */
import { createHash } from 'node:crypto';
import type { CallDetails } from '../../../protocols/dialect.ts';
import type { SipHeaders } from './headers.ts';
import { displayNameOf, userOf } from './uris.ts';
import { splitList } from './via.ts';

/** An id with only these characters can stand in URLs and logs. */
const PLAIN_ID = /^[\w.@+-]{1,100}$/;
const HASH_CHARS = 32;
/** As the stack writes header names: `X-Trunkline-Barge-In`. */
const PARAMETER = /^X-Trunkline-([A-Za-z0-9-]{1,64})$/i;
const PARAMETERS_MAX = 32;
const VALUE_MAX_CHARS = 1024;
/** A caller who withholds his identity (RFC 3323 §4.1.1.3). */
const ANONYMOUS = /(?:^|<)sips?:anonymous@/i;
/** Longest name or number that is passed on. */
const DETAIL_MAX_CHARS = 256;

/** A Call-ID as our call's id. A Call-ID with characters other than letters, digits and `.@+-_` is hashed. */
export function callIdOf(callId: string): string {
  if (PLAIN_ID.test(callId)) return callId;
  return `sip-${createHash('sha256').update(callId).digest('hex').slice(0, HASH_CHARS)}`;
}

/**
 * Caller and callee: users or telephone numbers; null for a caller who withholds his identity. `dialled` is the user in
 * the Request-URI. A registrar puts the name there under which we registered: then the number that was dialled is in
 * To.
 */
export function partiesOf(
  message: SipHeaders,
  dialled: string | null,
  ownUsers: readonly string[],
): { from: string | null; to: string | null } {
  const caller = message.getHeader('from') ?? '';
  const from = ANONYMOUS.test(caller) ? null : userOf(caller);
  if (dialled !== null && !ownUsers.includes(dialled)) return { from, to: dialled };
  return { from, to: userOf(message.getHeader('to') ?? '') ?? dialled };
}

/**
 * The caller's name, and who forwarded the call to us: Diversion (RFC 5806), whose first value is the latest, or
 * History-Info (RFC 7044), whose last entry but one it is.
 */
export function detailsOf(message: SipHeaders): CallDetails {
  const from = message.getHeader('from') ?? '';
  const [diversion] = splitList(message.getHeaders('diversion').join(','));
  const history = splitList(message.getHeaders('history-info').join(','));
  const forwardedFrom = userOf(diversion ?? history.at(-2) ?? '');
  const callerName = ANONYMOUS.test(from) ? null : displayNameOf(from);
  return {
    ...(callerName === null ? {} : { callerName: decode(callerName).slice(0, DETAIL_MAX_CHARS) }),
    ...(forwardedFrom === null ? {} : { forwardedFrom: decode(forwardedFrom).slice(0, DETAIL_MAX_CHARS) }),
  };
}

/** `X-Trunkline-Barge-In: off` → `bargeIn: 'off'`. Of a header that comes twice, the first one counts. */
export function parametersOf(
  message: SipHeaders & { readonly headers: Readonly<Record<string, unknown>> },
): Record<string, string> {
  const parameters: Record<string, string> = Object.create(null);
  const names = Object.keys(message.headers).filter((name) => PARAMETER.test(name));
  for (const name of names.slice(0, PARAMETERS_MAX)) {
    const own = PARAMETER.exec(name)?.[1] ?? '';
    parameters[camelCase(own)] = decode(message.getHeader(name) ?? '').slice(0, VALUE_MAX_CHARS);
  }
  return parameters;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/(?<!-)-+([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** Header values are UTF-8 (RFC 3261 §7.3.1); the stack has them as bytes. */
function decode(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}
