/** Session descriptions in messages. */
import type { Body } from 'sip.js/lib/core/index.js';

const SDP = 'application/sdp';

/** A session description of ours as sip.js wants it. */
export function sdpBody(content: string): Body {
  return { contentDisposition: 'session', contentType: SDP, content };
}

/** The session description in a message; null when there is none or something else. */
export function sdpIn(message: { body: string; getHeader(name: string): string | undefined }): string | null {
  const type = message.getHeader('content-type')?.split(';')[0]?.trim().toLowerCase();
  return message.body !== '' && type === SDP ? message.body : null;
}
