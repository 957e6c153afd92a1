/**
 * Classes of characters as the data was made with: Unicode's, where a mark is no part of a word. Sources of patterns
 * with the flag `u`.
 */

/** In a class: what words are made of. */
export const WORD = String.raw`\p{L}\p{N}_`;
/** In a class: what words are made of but for decimal digits and `_`. */
export const LETTER = String.raw`\p{L}\p{Nl}\p{No}`;
/** In a class: small and capital letters of Latin-1. */
export const SMALL = 'a-zß-öø-ÿ';
export const CAPITAL = 'A-ZÀ-ÖØ-Þ';
/** In a class: white space. */
export const SPACE = String.raw`\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;

const ALPHABETIC = /^\p{L}+$/u;
const ASCII_DIGITS = /^[0-9]+$/;
/** Decimal digits and those in circles, above and below the line. */
const DIGITS = /^[\p{Nd}²³¹⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒]+$/u;
const LONE_DIGIT = /[\p{Nd}⓵-⓽❶-❾➀-➈➊-➒]/gu;
const DECIMAL = /\p{Nd}/u;
/** Circled ones, which no normal form of Unicode makes plain. */
const CIRCLED_ONES = [0x24f5, 0x2776, 0x2780, 0x278a];

/** Whether there are letters and nothing else. */
export function isAlphabetic(text: string): boolean {
  return ALPHABETIC.test(text);
}

/** Whether there are digits of any script and nothing else. */
export function isDigits(text: string): boolean {
  return DIGITS.test(text);
}

/** Whether there are digits from 0 to 9 and nothing else. */
export function isAsciiDigits(text: string): boolean {
  return ASCII_DIGITS.test(text);
}

/** Whether it has no capitals. */
export function isLower(text: string): boolean {
  return text === text.toLowerCase();
}

/** Whether it has no small letters. */
export function isUpper(text: string): boolean {
  return text === text.toUpperCase();
}

/** With a capital at its head and small letters behind. */
export function capitalise(text: string): string {
  const [head = '', ...rest] = text;
  const [first = '', ...more] = head.toUpperCase();
  return first + more.join('').toLowerCase() + rest.join('').toLowerCase();
}

/** Digits of all scripts as 0 to 9. */
export function plainDigits(text: string): string {
  return text.replace(LONE_DIGIT, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** The digits of a script follow each other from zero on, in runs of ten. */
function digitValue(code: number): number {
  if (!DECIMAL.test(String.fromCodePoint(code))) {
    return code - (CIRCLED_ONES.findLast((one) => one <= code) ?? code) + 1;
  }
  let zero = code;
  while (DECIMAL.test(String.fromCodePoint(zero - 1))) zero--;
  return (code - zero) % 10;
}

/** The last `count` characters. */
export function lastCharacters(text: string, count: number): string {
  return Array.from(text.slice(-2 * count))
    .slice(-count)
    .join('');
}

/** The first character; empty in an empty text. */
export function firstCharacter(text: string): string {
  const code = text.codePointAt(0);
  return code === undefined ? '' : String.fromCodePoint(code);
}
