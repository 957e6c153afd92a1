/** A module with patterns as the rules forbid them: one that is made when it is loaded, and one that is made later. */
const LETTER = '[a-z]';

/** Takes quadratic time on a run of letters that something follows. */
export const LETTERS_AT_THE_END = new RegExp(`${LETTER}+$`);

/** Whatever `source` is. */
export function patternOf(source: string): RegExp {
  return new RegExp(source);
}
