/** Who a SIP call is: its id, its parties and its parameters, from what its messages say. */
import { createHash } from 'node:crypto';
import type { IncomingRequestMessage } from 'sip.js/lib/core/index.js';
import type { CallDetails } from '../../protocols/dialect.ts';
import { displayNameOf, userOf } from '../../protocols/sip/uris.ts';
import { splitList } from '../../protocols/sip/via.ts';

/** Goes into URLs and logs as it is. */
const PLAIN_ID = /^[\w.@+-]{1,100}$/;
const HASH_CHARS = 32;
/** As the stack writes header names: `X-Trunkline-Barge-In`. */
const PARAMETER = /^X-Trunkline-([A-Za-z0-9-]{1,64})$/i;
const PARAMETERS_MAX = 32;
const VALUE_MAX_CHARS = 1024;
/** Who does not want to be known (RFC 3323 §4.1.1.3). */
const ANONYMOUS = /(?:^|<)sips?:anonymous@/i;

/** A Call-ID as our call's id; one that has other characters than letters, digits and `.@+-_` goes by its hash. */
export function callIdOf(callId: string): string {
  if (PLAIN_ID.test(callId)) return callId;
  return `sip-${createHash('sha256').update(callId).digest('hex').slice(0, HASH_CHARS)}`;
}

/**
 * Caller and callee: users or telephone numbers; null for a caller who does not want to be known. A registrar calls us
 * by the name that we registered, whoever was dialled: that is in To then.
 */
export function partiesOf(
  message: IncomingRequestMessage,
  dialled: string | null,
  ownUsers: readonly string[],
): { from: string | null; to: string | null } {
  const caller = message.getHeader('from') ?? '';
  const from = ANONYMOUS.test(caller) ? null : userOf(caller);
  const meant = userOf(message.getHeader('to') ?? '');
  return { from, to: dialled === null || ownUsers.includes(dialled) ? (meant ?? dialled) : dialled };
}

/** Longest name or number that is passed on. */
const DETAIL_MAX_CHARS = 256;

/**
 * The caller's name, and from where the call was sent on to us: Diversion (RFC 5806), whose first value is the latest,
 * or History-Info (RFC 7044), whose entry before the last it was.
 */
export function detailsOf(message: IncomingRequestMessage): CallDetails {
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

/** `X-Trunkline-Barge-In: off` → `bargeIn: 'off'`. What comes twice counts as it came first. */
export function parametersOf(message: IncomingRequestMessage): Record<string, string> {
  const parameters: Record<string, string> = Object.create(null);
  const names = Object.keys(message.headers).filter((name) => PARAMETER.test(name));
  for (const name of names.slice(0, PARAMETERS_MAX)) {
    const own = PARAMETER.exec(name)?.[1] ?? '';
    parameters[camelCase(own)] = decode(message.getHeader(name) ?? '').slice(0, VALUE_MAX_CHARS);
  }
  return parameters;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/-+([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** Header values are UTF-8 (RFC 3261 §7.3.1); the stack has them as bytes. */
function decode(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}
