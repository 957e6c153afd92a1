/** The methods that we take. */
import { AllowedMethods } from 'sip.js/lib/core/user-agent-core/allowed-methods.js';

/** As Allow has them. */
export const METHODS: readonly string[] = ['INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'INFO', 'UPDATE', 'NOTIFY'];

// sip.js refuses all others with 405.
AllowedMethods.splice(0, AllowedMethods.length, ...METHODS);

/** The Allow header of our answers. */
export const ALLOW_HEADER = `Allow: ${METHODS.join(', ')}`;
