/** What is taken of the body of a message: the session description, and the metadata of a recorded call. */
import { SipFault } from './fault.ts';
import { type BodyPart, readMultipart } from './multipart.ts';

const SDP = 'application/sdp';
/** RFC 9806, and RFC 7866 before it. The request for metadata is another type. */
const METADATA = /^application\/rs-metadata(?:\+xml)?$/;
/** Whatever type the part has: one vendor's has none that could be read (RFC 7866 §9.1). */
const METADATA_DISPOSITION = 'recording-session';
/** Requests, and their answers, in which a session is described. */
const DESCRIBING: readonly string[] = ['INVITE', 'ACK', 'UPDATE', 'PRACK'];

/** The body as the stack gets it. */
export interface ReceivedBody {
  readonly contentType: string;
  /** '' = nothing is left of it. */
  readonly content: string;
  /** Null = none. */
  readonly metadata: string | null;
}

/**
 * Opens a body; `method` = of its request. Of several parts the first description and the first metadata are taken, in
 * whichever order they come, and what is neither is left out.
 * @throws SipFault when it cannot be read, or 415 when a part that is neither must be understood
 */
export function openBody(method: string, contentType: string, body: string): ReceivedBody {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (body === '' || !DESCRIBING.includes(method)) return { contentType, content: body, metadata: null };
  if (METADATA.test(type)) return { contentType: '', content: '', metadata: asText(body) };
  if (!type.startsWith('multipart/')) return { contentType, content: body, metadata: null };
  const parts = readMultipart(body, contentType);
  const sdp = parts.find((part) => part.type === SDP);
  const metadata = parts.find(isMetadata);
  if (parts.some((part) => part.isRequired && part.type !== SDP && !isMetadata(part)))
    throw new SipFault('a body part that must be understood', 'application/sdp or application/rs-metadata+xml', 415);
  return { contentType: SDP, content: sdp?.content ?? '', metadata: metadata ? asText(metadata.content) : null };
}

function isMetadata({ type, disposition }: BodyPart): boolean {
  return METADATA.test(type) || (disposition === METADATA_DISPOSITION && type !== SDP);
}

/** Metadata are UTF-8; all else of a message is bytes. */
function asText(content: string): string {
  return Buffer.from(content, 'latin1').toString();
}
