/**
 * What counts as a word in search: letters and digits, without case and without accents; in scripts that write no
 * spaces each letter is a word, so that words side by side are found as a phrase. Both databases are given words cut
 * like this, so that both find the same.
 */
import { UNSPACED } from '../../transcription/words.ts';

/** A word in a text, in UTF-16 units from its first to behind its last. */
export interface TextWord {
  /** As it is compared. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** The mark of long vowels, which is of no script, belongs to what it stands behind. */
const LENGTHENER = 'ー';
const LETTER = '[\\p{L}\\p{N}]';
const WORD = new RegExp(
  `(?=${LETTER})[${UNSPACED}][\\p{M}${LENGTHENER}]*|` +
    `(?![${UNSPACED}])${LETTER}(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])*`,
  'gu',
);
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
/**
 * Marks that people leave out: accents, the vowels of Arabic and Hebrew, and what lengthens an Arabic word. Vowels of
 * Indic scripts and the voicing of kana are no such marks.
 */
const LEFT_OUT = /[\u0300-\u036F\u0591-\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06ED]+/gu;
const WIDE_FORMS = /[\uFF00-\uFFEF]/u;
/** Scripts in which the databases make the same words of a text. */
const OTHER_SCRIPT = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u;

/** The words of `text`. An apostrophe, a hyphen or a point ends a word: `don't` is two. */
export function wordsOf(text: string): TextWord[] {
  return Array.from(text.matchAll(WORD), ({ 0: found, index }) => ({
    word: plainWord(found),
    start: index,
    end: index + found.length,
  })).filter(({ word }) => word !== '');
}

/** Whether the word is a letter of a script without spaces. */
export function isUnspacedWord(word: string): boolean {
  return IS_UNSPACED.test(word);
}

/** What is put into the index in place of `text`; null = the databases find the same words in it themselves. */
export function searchWordsOf(text: string): string | null {
  if (!OTHER_SCRIPT.test(text)) return null;
  return wordsOf(text)
    .map(({ word }) => word)
    .join(' ');
}

function plainWord(word: string): string {
  const known = WIDE_FORMS.test(word) ? word.normalize('NFKC') : word;
  return known.normalize('NFD').replace(LEFT_OUT, '').normalize('NFC').toLowerCase();
}
