/** How much an app may say in one answer. */
import { TrunklineError } from '../../foundation/errors.ts';

/** Some five hours of speech: whoever says more has no end. */
export const ANSWER_MAX_CHARS = 262_144;

/**
 * To be asked with all characters of an answer so far before more of it is taken.
 * @throws TrunklineError `answer_too_long`
 */
export function checkAnswerLength(chars: number): void {
  if (chars <= ANSWER_MAX_CHARS) return;
  throw new TrunklineError(
    'answer_too_long',
    `text: got ${chars} characters without last, expected at most ${ANSWER_MAX_CHARS} (answer_too_long); what was ` +
      'said before is spoken, the rest of the answer is left out',
  );
}
