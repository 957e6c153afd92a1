/** What recognisers can do: part of the contract, as jobs are. */

/** What a recogniser can do beside writing down what is said. */
export interface RecogniserAbilities {
  /** It verifies a `TranscribeJob.draft` in one run. */
  readonly drafts: boolean;
  /** It can say when each word was said. */
  readonly wordTimes: boolean;
  /** It says how probable each token was. */
  readonly logprobs: boolean;
  /** The gateway's curves of confidence were fitted to these probabilities; they show when the language is another. */
  readonly confidence: boolean;
  /** It finds out which of its languages is spoken. */
  readonly languageGuess: boolean;
  /** It lets `TranscribeJob.hotWords` bias its choice. */
  readonly hotWords: boolean;
  /** It reads speech as `TranscribeJob.expectedWords`. */
  readonly expectedWords: boolean;
  /** It verifies a `TranscribeJob.draftText` in one run. */
  readonly textDrafts: boolean;
  /** It reads a `TranscribeJob.context`. */
  readonly context: boolean;
  /** It may keep what it computed for a `TranscribeJob.stream`. */
  readonly streams: boolean;
}
