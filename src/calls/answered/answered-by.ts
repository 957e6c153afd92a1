/** Who answers a call that we make, and how whoever makes it may say so. */

import type { FaxTone } from '../../audio/tones/fax-tones.ts';

/** `unknown`: nobody spoke. */
export const ANSWERERS = ['person', 'machine', 'fax', 'unknown'] as const;
export type AnsweredBy = (typeof ANSWERERS)[number];

/** What is told of who answers. */
export type AnswerNews =
  | { readonly type: 'answered'; readonly by: AnsweredBy }
  /** An answering machine records from now on: it has beeped, or with false has fallen silent. */
  | { readonly type: 'beep'; readonly heard: boolean }
  | { readonly type: 'fax'; readonly tone: FaxTone };

/** Who has answered, for whoever talks in the call. */
export interface CallAnswer {
  /** Null = that is not known: others made the call, or it is being found out. */
  readonly by: AnsweredBy | null;
  /** It is being found out. */
  readonly isAwaited: boolean;
  /** An answering machine records. */
  readonly isListening: boolean;
  onNews(listener: (news: AnswerNews) => void): void;
}

/** Who answered, as another system has found out. */
export interface ToldAnswer {
  readonly by: AnsweredBy;
  /** The machine's greeting is over: a message may be left now. */
  readonly isListening: boolean;
}

/** The values of Twilio's `AnsweredBy` (https://www.twilio.com/docs/voice/answering-machine-detection) that differ. */
const OTHER_NAMES: Readonly<Record<string, ToldAnswer>> = {
  human: { by: 'person', isListening: false },
  notsure: { by: 'unknown', isListening: false },
  machine_start: { by: 'machine', isListening: false },
  machine_end_beep: { by: 'machine', isListening: true },
  machine_end_silence: { by: 'machine', isListening: true },
  machine_end_other: { by: 'machine', isListening: true },
};

/**
 * Reads the parameter `answeredBy` of a call: our names, those of Twilio and of Asterisk's AMD(), in any case. `detect`
 * = it is to be found out, `off` = it is not; null = nothing is said that could be understood.
 */
export function readAnsweredBy(given: string | undefined): ToldAnswer | 'detect' | 'off' | null {
  const name = given?.trim().toLowerCase() ?? '';
  if (name === 'detect' || name === 'off') return name;
  const by = ANSWERERS.find((one) => one === name);
  return by === undefined ? (OTHER_NAMES[name] ?? null) : { by, isListening: false };
}
