/** For how long a registrar takes us (RFC 3261 §10.3). */
import type { IncomingResponseMessage, URI } from 'sip.js/lib/core/index.js';

/** The longest registration that we count on. */
export const EXPIRES_MAX_S = 86_400;
/** If no contact in the answer is ours, the shortest one may belong to another phone; we assume at least this. */
const UNKNOWN_MIN_S = 60;

/**
 * The time that the registrar granted, in seconds: the `expires` of our contact in its answer, else its Expires header,
 * else the time that we asked for (RFC 3261 §10.3). Some registrars rewrite contacts behind a NAT; if no contact is
 * ours, we take the shortest time. 0 = nothing.
 */
export function grantedIn(answer: IncomingResponseMessage, contact: URI, askedS: number): number {
  const contacts = answer.getHeaders('contact').map((value) => ({ value, expiresS: expiresIn(value) }));
  const ours = contacts.find(({ value }) => names(value, contact));
  const shortestS = Math.min(...contacts.map(({ expiresS }) => expiresS ?? Number.POSITIVE_INFINITY));
  const guessedS = shortestS === Number.POSITIVE_INFINITY ? null : Math.max(shortestS, UNKNOWN_MIN_S);
  const ofAllS = Number(answer.getHeader('expires') ?? askedS);
  const grantedS = (ours === undefined ? guessedS : ours.expiresS) ?? ofAllS;
  return grantedS >= 0 ? Math.min(grantedS, EXPIRES_MAX_S) : askedS;
}

function expiresIn(contact: string): number | null {
  const [, seconds] = /;\s*expires\s*=\s*"?(\d{1,10})/i.exec(contact) ?? [];
  return seconds === undefined ? null : Number(seconds);
}

/** Whether a Contact header has this URI, with any parameters. */
function names(header: string, { user, host, port }: URI): boolean {
  // Without a listener of ours there is no port.
  const own = `:${user}@${host}${port === undefined ? '' : `:${port}`}`;
  const at = header.indexOf(own);
  return at >= 0 && !/^[\w.:-]/.test(header.slice(at + own.length));
}
