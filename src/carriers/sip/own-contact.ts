/** The Contact of our answers, which sip.js itself writes. */
import type { UserAgentCore } from 'sip.js/lib/core/index.js';

/** Runs `send`. In what it sends at once our Contact is `value`, such as `<sips:us@host>;+sip.srs` (RFC 3840). */
export function withContact<T>(core: UserAgentCore, value: string, send: () => T): T {
  const { contact } = core.configuration;
  const write = contact.toString;
  contact.toString = () => value;
  try {
    return send();
  } finally {
    contact.toString = write;
  }
}
