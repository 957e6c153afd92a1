import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { phraseSet } from '../phrase-table.ts';
import { itemReaderOf, readDigits } from './digits.ts';

/** E.164 has at most 15 digits, and a code to dial abroad may stand before them. */
const PHONE_MAX_DIGITS = 18;
const PHONE_MIN_DIGITS = 3;
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
  const digits = readDigits(items, words, [Math.max(min, PHONE_MIN_DIGITS), Math.min(max, PHONE_MAX_DIGITS)]);
  if (digits === null) return null;
  if (hasPlus) return `+${digits}`;
  const abroad = NORTH_AMERICA.has(region) ? '011' : '00';
  return digits.startsWith(abroad) && digits.length > abroad.length + PHONE_MIN_DIGITS
    ? `+${digits.slice(abroad.length)}`
    : digits;
}
