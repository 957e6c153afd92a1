/** The methods that we take. */
import { AllowedMethods } from 'sip.js/lib/core/user-agent-core/allowed-methods.js';

/** All of them; REFER is answered, and obeyed where SIP_TRANSFERS says so. */
export const METHODS: readonly string[] = [
  'INVITE',
  'ACK',
  'BYE',
  'CANCEL',
  'OPTIONS',
  'INFO',
  'UPDATE',
  'NOTIFY',
  'REFER',
];

// sip.js refuses all others with 405.
AllowedMethods.splice(0, AllowedMethods.length, ...METHODS);

/** The value of Allow. Peers that find no REFER there transfer calls without us. */
export function allowedMethods(takesRefer: boolean): string {
  return METHODS.filter((method) => takesRefer || method !== 'REFER').join(', ');
}

/** Runs `send`. In what sip.js writes at once Allow has this value. */
export function withAllowed<T>(value: string, send: () => T): T {
  const write = AllowedMethods.toString;
  AllowedMethods.toString = () => value;
  try {
    return send();
  } finally {
    AllowedMethods.toString = write;
  }
}
