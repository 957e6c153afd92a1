/** The carriers that `trunkline call` can simulate. A new one needs one entry here and one file beside this one. */
import type { CallOptions, PlaceCall } from './call-options.ts';

interface CallCarrier {
  /** Its name in messages. */
  readonly label: string;
  /** Options that do not apply to its calls and are refused. */
  readonly unused: readonly (keyof CallOptions)[];
  /** The schemes of its `--url`, and an example of one. */
  readonly protocols: readonly string[];
  readonly exampleUrl: string;
  readonly load: () => Promise<PlaceCall>;
}

/** By the value of `--carrier`; the first is the default. */
export const CALL_CARRIERS = {
  twilio: {
    label: 'Twilio',
    unused: ['plainText', 'codec', 'srtp'],
    protocols: ['ws:', 'wss:'],
    exampleUrl: 'ws://127.0.0.1:8080/twilio/media',
    load: async () => (await import('./twilio.ts')).placeTwilioCall,
  },
  asterisk: {
    label: 'Asterisk',
    unused: ['both', 'voice', 'jitterMs', 'reorder', 'codec', 'srtp'],
    protocols: ['ws:', 'wss:'],
    exampleUrl: 'ws://127.0.0.1:8080/asterisk/media',
    load: async () => (await import('./asterisk.ts')).placeAsteriskCall,
  },
  audiosocket: {
    label: 'AudioSocket',
    unused: ['both', 'voice', 'jitterMs', 'reorder', 'plainText', 'codec', 'srtp'],
    protocols: ['tcp:'],
    exampleUrl: 'tcp://127.0.0.1:9019',
    load: async () => (await import('./audiosocket.ts')).placeAudioSocketCall,
  },
  sip: {
    label: 'SIP',
    unused: ['both', 'voice', 'plainText', 'fast'],
    protocols: ['sip:', 'sips:'],
    exampleUrl: 'sip:bridge@127.0.0.1:5060',
    load: async () => (await import('./sip.ts')).placeSipCall,
  },
} as const satisfies Record<string, CallCarrier>;

/** A value of `--carrier`. */
export type CarrierName = keyof typeof CALL_CARRIERS;

/**
 * What is wrong with the options of a call of `name`: one that does not apply, or a URL of another kind; null =
 * nothing. `isGiven` = whether an option was given on the command line.
 */
export function complaintAbout(
  name: CarrierName,
  url: string | undefined,
  isGiven: (option: keyof CallOptions) => boolean,
): string | null {
  const { label, unused, protocols, exampleUrl }: CallCarrier = CALL_CARRIERS[name];
  const needless = unused.find(isGiven);
  if (needless !== undefined) return `${optionName(needless)} does not apply to calls of ${label}`;
  if (url !== undefined && !protocols.includes(new URL(url).protocol))
    return `--url: expected one such as ${exampleUrl}`;
  return null;
}

/** `jitterMs` → `--jitter-ms`. */
function optionName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
