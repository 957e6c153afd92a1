/** Whether we and a peer read each other's bodies: asked of each request before anything is done about it. */
import type { IncomingRequestMessage } from 'sip.js/lib/core/index.js';
import type { Reply } from './dialog.ts';

/** Requests whose bodies we read. */
const WITH_BODIES: readonly string[] = ['INVITE', 'UPDATE', 'INFO'];
/** What an Accept says that takes our session descriptions. */
const TAKES_SDP: readonly string[] = ['application/sdp', 'application/*', '*/*'];

/**
 * The refusal of a request with a body that is encoded (RFC 3261 §8.2.3), or of an INVITE whose sender takes no session
 * description as its answer (§20.1); null = it may go on. No Accept, or an empty one, is taken for one that takes SDP.
 */
export function contentRefusal(message: IncomingRequestMessage): Reply | null {
  if (!WITH_BODIES.includes(message.method)) return null;
  const encodings = listed(message, 'content-encoding').filter((encoding) => encoding !== 'identity');
  if (encodings.length > 0) return { statusCode: 415, extraHeaders: ['Accept-Encoding: identity'] };
  const accepted = message.method === 'INVITE' ? listed(message, 'accept') : [];
  if (accepted.length > 0 && !accepted.some((type) => TAKES_SDP.includes(type))) return { statusCode: 406 };
  return null;
}

/** Values of a header in lower case, without their parameters. */
function listed(message: IncomingRequestMessage, name: string): string[] {
  return message
    .getHeaders(name)
    .flatMap((value) => value.split(','))
    .map((value) => (value.split(';')[0] ?? '').trim().toLowerCase())
    .filter((value) => value !== '');
}
