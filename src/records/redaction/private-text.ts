import { maskAlone } from './call-redactor.ts';
import { findDigitRuns } from './digit-runs.ts';
import type { OwnPatterns } from './own-patterns.ts';
import { tokenise } from './tokens.ts';

/** With so many digits in a row a sentence may say part of a number, whose rest is in the next one. */
const DIGITS_IN_A_ROW = 3;

/** Whether a sentence that somebody heard may be private: redaction changes it, or it may have part of a number. */
export function mayBePrivate(text: string, patterns: OwnPatterns): boolean {
  const runs = findDigitRuns(tokenise([text]));
  return runs.some(({ digits }) => digits.length >= DIGITS_IN_A_ROW) || maskAlone(text, patterns) !== text;
}
