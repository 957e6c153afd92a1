import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { phraseSet } from '../phrase-table.ts';
import { itemReaderOf, readDigits } from './digits.ts';

/** E.164 has at most 15 digits, and a code to dial abroad may stand before them. */
const PHONE_MAX_DIGITS = 18;
const PHONE_MIN_DIGITS = 5;
/** With the code of a country. */
const ABROAD_MIN_DIGITS = 8;
/** Numbers of the North American plan, which have 1 before them or not. */
const NORTH_AMERICAN = /^1?[2-9]\d{9}$/;
/** Regions of the North American plan, where 011 is dialled for other countries. */
const NORTH_AMERICA = new Set(['US', 'CA', 'PR', 'DO', 'JM']);
/** Of the country, which is not dialled behind a country's code: `+49 (0)30`. */
const TRUNK_ZERO = /\(\s*0\s*\)/g;

const tablesOf = perLanguage(({ numbers }) => ({
  plus: phraseSet(`${numbers.plus}, +`),
  extension: phraseSet(numbers.extension),
}));

/**
 * The telephone number that `text` says: digits, with a plus before them where the country's code was said (`+` or what
 * is dialled in its place: 00, in North America 011). What stands behind "extension" is left out.
 */
export function readPhone(
  text: string,
  words: LanguageWords,
  { min, max, region }: { readonly min: number; readonly max: number; readonly region: string },
): string | null {
  const { plus, extension } = tablesOf(words);
  const all = itemReaderOf(words).read(text.includes('+') ? text.replace(TRUNK_ZERO, ' ') : text, true);
  const cut = all.findIndex((_, at) => extension.find(all, at) !== null);
  const items = cut > 0 ? all.slice(0, cut) : all;
  const firstNumber = items.findIndex(({ type }) => type === 'number');
  const hasPlus = items.some((_, at) => at < firstNumber && plus.find(items, at) !== null);
  const digits = readDigits(items, words, [min > 1 ? min : PHONE_MIN_DIGITS, Math.min(max, PHONE_MAX_DIGITS)]);
  if (digits === null) return null;
  if (hasPlus) return international(digits);
  const abroad = NORTH_AMERICA.has(region) ? '011' : '00';
  if (digits.startsWith(abroad)) return international(digits.slice(abroad.length));
  return !NORTH_AMERICA.has(region) || min > 1 || NORTH_AMERICAN.test(digits) ? digits : null;
}

function international(digits: string): string | null {
  const isWhole = digits.startsWith('1') ? NORTH_AMERICAN.test(digits) : digits.length >= ABROAD_MIN_DIGITS;
  return isWhole ? `+${digits}` : null;
}
