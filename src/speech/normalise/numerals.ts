/** The numbers that no other rule matches: versions, years, decimals and counts. */
import { digitWords, NUMBER, numberWords, yearWords } from './words.ts';

const VERSION = /(?<!\w)[vV](?:ersion )?\.? ?(\d{1,6}(?:\.\d{1,6}){0,4})(?!\w)/g;
const DOTTED = /(?<![\w.,])\d{1,6}(?:\.\d{1,6}){2,5}(?!\w|\.\d)/g;
/** `mp3`, `iPhone15`, `10km`: letters and digits are separate words. */
const LETTER_DIGIT_BOUNDARY = /(?<=\p{L})(?=\d)|(?<=\d)(?=\p{L})/gu;
const YEAR = /(?<![\w.,])(19\d\d|20\d\d)(?![\w]|[.,]\d)/g;
const EARLIER_YEAR = /(?<=(?<!\w)(?:in|since|of|by|year|until|till|before|after|from) )(1[0-8]\d\d)(?![\w]|[.,]\d)/gi;
const POINT_FIRST = /(?<![\w.])\.(\d{1,10})(?!\w|\.\d)/g;
const ANY_NUMBER = new RegExp(NUMBER, 'g');
const BARE_CODE = /(?<![\w.,])\d{5,6}(?![\w]|[.,]\d)/g;

/** Writes out every number. */
export function sayNumerals(text: string): string {
  return text
    .replace(VERSION, (_, version: string) => `version ${sayVersion(version)}`)
    .replace(DOTTED, sayVersion)
    .replace(LETTER_DIGIT_BOUNDARY, ' ')
    .replace(YEAR, (year) => yearWords(Number(year)))
    .replace(EARLIER_YEAR, (year) => yearWords(Number(year)))
    .replace(POINT_FIRST, (_, digits: string) => `point ${digitWords(digits)}`)
    .replace(BARE_CODE, sayBareCode)
    .replace(
      ANY_NUMBER,
      (number, at: number, whole: string) =>
        `${/[\p{L}\p{N}]/u.test(whole.charAt(at - 1)) ? ' ' : ''}${numberWords(number)}`,
    );
}

function sayVersion(version: string): string {
  return version.split('.').map(numberWords).join(' point ');
}

/** Five or six digits without a comma are a postal code or another code, unless they are round. */
function sayBareCode(digits: string): string {
  if (digits.endsWith('00')) return numberWords(digits);
  return digits.length === 5 ? digitWords(digits) : `${digitWords(digits.slice(0, 3))}, ${digitWords(digits.slice(3))}`;
}
