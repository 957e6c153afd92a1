/** What the URL of a stream of FreeSWITCH says, as the modules' commands spell it. */

/** The rate of the sound. */
export const RATES = ['8000', '16000', '8k', '16k'] as const;
/** Whose sound it is: `mono` = the caller's, `mixed` = both parties' in one, `stereo` = each by himself. */
export const MIXES = ['mono', 'mixed', 'stereo'] as const;
/** How sound goes back. */
export const PLAYS = ['none', 'binary', 'playAudio', 'streamAudio'] as const;

/** The query. */
export interface FreeSwitchQuery {
  readonly rate?: (typeof RATES)[number] | undefined;
  readonly mix?: (typeof MIXES)[number] | undefined;
  readonly play?: (typeof PLAYS)[number] | undefined;
}
