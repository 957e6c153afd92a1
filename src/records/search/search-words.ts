/**
 * What counts as a word in search: letters and digits, without case and without accents. Both databases are given
 * words cut like this, so that both find the same.
 */

/** A word in a text, in UTF-16 units from its first to behind its last. */
export interface TextWord {
  /** As it is compared. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const ACCENTS = /\p{M}+/gu;

/** The words of `text`. An apostrophe, a hyphen or a point ends a word: `don't` is two. */
export function wordsOf(text: string): TextWord[] {
  return Array.from(text.matchAll(WORD), ({ 0: found, index }) => ({
    word: plainWord(found),
    start: index,
    end: index + found.length,
  }));
}

function plainWord(word: string): string {
  return word.normalize('NFD').replace(ACCENTS, '').toLowerCase();
}
