/** Features in the Contact of our answers (RFC 3840), which sip.js itself writes. */
import type { UserAgentCore } from 'sip.js/lib/core/index.js';

/** Runs `send`. In what it sends at once our Contact has these features, such as `;+sip.srs`. */
export function withFeatures<T>(core: UserAgentCore, features: string, send: () => T): T {
  const { contact } = core.configuration;
  const write = contact.toString;
  contact.toString = () => `${write.call(contact)}${features}`;
  try {
    return send();
  } finally {
    contact.toString = write;
  }
}
