/** Readings by what is expected: part of the contract, as jobs are. */

/** Bounds of `TranscribeJob.expectedWords`: how many, and the characters of one. */
export const EXPECTED_WORDS_MAX = 500;
export const EXPECTED_WORD_MAX_CHARS = 64;

/** Speech, read as nothing but expected words. */
export interface ExpectedReading {
  readonly text: string;
  /**
   * By how much the logarithm of its probability is below that of the recogniser's own text; negative where it is
   * likelier.
   */
  readonly behind: number;
}
