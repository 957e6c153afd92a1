/** Numbers and letters in English words. */

const SMALL = (
  'zero one two three four five six seven eight nine ten ' +
  'eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
).split(' ');
const TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const SCALES = ['', 'thousand', 'million', 'billion', 'trillion'];

/** Numbers with more digits are read digit by digit. */
const CARDINAL_MAX_DIGITS = 15;

const IRREGULAR_ORDINALS: Readonly<Record<string, string>> = Object.freeze({
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
});

/**
 * Source of a pattern for numbers as people write them, `1,234.50`: without a group or sign. Put {@link NOT_INSIDE} or
 * the like before it, so that a long run of digits is tried only once.
 */
export const NUMBER = String.raw`(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,10})?`;

/** Nothing that would make a number part of something else precedes. */
export const NOT_INSIDE = String.raw`(?<![\w.,]|\d-)`;

/** `1234` → `one thousand two hundred thirty four`. */
export function cardinal(value: number): string {
  const groups: string[] = [];
  for (let rest = value, scale = 0; rest > 0; rest = Math.floor(rest / 1000), scale++) {
    const group = rest % 1000;
    if (group > 0) groups.unshift(`${belowThousand(group)} ${SCALES[scale] ?? ''}`.trim());
  }
  return groups.join(' ') || 'zero';
}

function belowThousand(value: number): string {
  const hundreds = Math.floor(value / 100);
  const rest = value % 100;
  const words = hundreds > 0 ? [`${SMALL[hundreds]} hundred`] : [];
  if (rest >= 20) words.push(TENS[Math.floor(rest / 10)] ?? '');
  const ones = rest >= 20 ? rest % 10 : rest;
  if (ones > 0) words.push(SMALL[ones] ?? '');
  return words.join(' ');
}

/** `21` → `twenty first`. */
export function ordinal(value: number): string {
  return cardinal(value).replace(
    /(?<!\w)\w+$/,
    (last) => IRREGULAR_ORDINALS[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`),
  );
}

/** The plural of a number: `ninety` → `nineties`, `sixth` → `sixths`. */
export function plural(word: string): string {
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** `1984` → `nineteen eighty four`, `2005` → `two thousand five`. */
export function yearWords(year: number): string {
  const rest = year % 100;
  if (year < 1000 || year > 9999 || year % 1000 < 10) return cardinal(year);
  const century = cardinal(Math.floor(year / 100));
  if (rest === 0) return `${century} hundred`;
  return `${century} ${rest < 10 ? 'oh ' : ''}${cardinal(rest)}`;
}

/** `042` → `zero four two`. Other characters are left out. */
export function digitWords(digits: string): string {
  return Array.from(digits, (digit) => SMALL[Number(digit)])
    .filter((word) => word !== undefined)
    .join(' ');
}

/** A match of {@link NUMBER} in words: `1,234.50` → `one thousand two hundred thirty four point five zero`. */
export function numberWords(number: string): string {
  const [whole = '', fraction] = number.replaceAll(',', '').split('.');
  const words = whole.length > CARDINAL_MAX_DIGITS || /^0\d/.test(whole) ? digitWords(whole) : cardinal(Number(whole));
  return fraction === undefined ? words : `${words} point ${digitWords(fraction)}`;
}

/** `AB` → `A B`: single capitals are read by their names. */
export function spellLetters(letters: string): string {
  return Array.from(letters.toUpperCase()).join(' ');
}

/** Letters and digits one by one, others left out: `AB12` → `A B one two`. */
export function spellCharacters(characters: string): string {
  return Array.from(characters, (character) => (/\d/.test(character) ? digitWords(character) : character.toUpperCase()))
    .filter((character) => /[\p{L}]/u.test(character))
    .join(' ');
}

/** Whether letters can be read as a word: they have a vowel and no long run of consonants. */
export function isPronounceable(word: string): boolean {
  return /[aeiouy]/i.test(word) && !/[^aeiouy]{5}/i.test(word) && !/^[^aeiouy]{4}/i.test(word);
}
