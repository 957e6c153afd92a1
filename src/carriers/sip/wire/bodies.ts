/** Bodies of SIP messages: session descriptions, and whether we and a peer can read each other's bodies. */
import type { SipHeaders } from './headers.ts';

const SDP = 'application/sdp';
/** Requests whose bodies we read. */
const WITH_BODIES: readonly string[] = ['INVITE', 'UPDATE', 'INFO', 'NOTIFY'];
/** Values of Accept that allow a session description. */
const ALLOWS_SDP: readonly string[] = [SDP, 'application/*', '*/*'];

/** A body with its headers, as the stack takes it. */
export interface SipBody {
  readonly contentDisposition: string;
  readonly contentType: string;
  readonly content: string;
}

/** Why a request is refused. */
export interface BodyRefusal {
  readonly statusCode: number;
  readonly extraHeaders?: string[];
}

/** A session description of ours. */
export function sdpBody(content: string): SipBody {
  return { contentDisposition: 'session', contentType: SDP, content };
}

/** The session description in a message; null when there is none or something else. */
export function sdpIn(message: SipHeaders & { readonly body: string }): string | null {
  return message.body !== '' && contentTypeOf(message) === SDP ? message.body : null;
}

/** The type of a message's body in lower case, without parameters; '' when the message does not say. */
export function contentTypeOf(message: SipHeaders): string {
  return message.getHeader('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
}

/**
 * The refusal of a request whose body is encoded (RFC 3261 §8.2.3), or of an INVITE whose sender does not accept a
 * session description (§20.1); null = the request is not refused. An empty or missing Accept allows SDP.
 */
export function bodyRefusal(message: SipHeaders & { readonly method: string }): BodyRefusal | null {
  if (!WITH_BODIES.includes(message.method)) return null;
  const encodings = valuesOf(message, 'content-encoding').filter((encoding) => encoding !== 'identity');
  if (encodings.length > 0) return { statusCode: 415, extraHeaders: ['Accept-Encoding: identity'] };
  const accepted = message.method === 'INVITE' ? valuesOf(message, 'accept') : [];
  if (accepted.length > 0 && !accepted.some((type) => ALLOWS_SDP.includes(type))) return { statusCode: 406 };
  return null;
}

/** Values of a header in lower case, without their parameters. */
function valuesOf(message: SipHeaders, name: string): string[] {
  return message
    .getHeaders(name)
    .flatMap((value) => value.split(','))
    .map((value) => (value.split(';')[0] ?? '').trim().toLowerCase())
    .filter((value) => value !== '');
}
