/**
 * Numbers that are read digit by digit: of telephones, cards and accounts, and codes of letters and digits. Voices
 * pause at the commas.
 */
import { cardinal, digitWords, isPronounceable, spellCharacters, spellLetters } from './words.ts';

const PHONE =
  /(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,5}\)[ .-]?)?(?:\d{2,5}[ .-]?){1,4}\d{2,5}|(?:1[ .-])?\(\d{3}\) ?\d{3}[ .-]\d{4}|(?:1[.-])?\d{3}([.-])\d{3}\1\d{4}|\d{3}-\d{4}|0\d{2,4} \d{3,4} \d{3,4})(?![\w-]|\.\d)/g;
const CARD = /(?<![\w.-])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{2,4}|\d{4}([ -])\d{6}\2\d{5})(?![\w-]|\.\d)/g;
const HYPHENATED = /(?<![\w.-])\d{1,6}(?:-\d{1,6}){2,6}(?![\w-]|\.\d)/g;
const LONG_DIGITS = /(?<![\w.,])\d{7,}(?![\w]|,\d|\.\d)/g;

/** Words after which a number is a code, even a short one. */
const NAMED_CODE =
  /(?<=(?<!\w)(?:call|dial|text|code|pin|passcode|password|zip|otp|extension|ending in|ends in|ending with|last four|last 4|digits|(?:account|order|card|case|ticket|reference|confirmation|tracking|invoice|policy|routing|member|flight|room|serial|phone)(?: number| no\.?| #)?)(?: is| are| was|:)?,? (?:#)?)(\d{3,6})(?![\w%]|[.,:/-]\d| (?:units|items|people|times|percent|dollars|euros|pounds|minutes|hours|days|miles|pieces))/gi;

/** Capitals and digits in one word, perhaps with hyphens: `AB-1234`, `4K`, `B2B`. */
const MIXED = /(?<![\w.'-])(?=[A-Z\d-]{0,24}\d)(?=[A-Z\d-]{0,24}[A-Z])[A-Z\d]{1,24}(?:-[A-Z\d]{1,24}){0,5}(?![\w])/g;

const EXTENSION = /(?<=(?<!\w)extension )\d{1,6}(?!\w)/g;

const GROUP_CHARS = 3;
const SHORT_NUMBER_CHARS = 2;

/** Writes out numbers of telephones and cards, and numbers with too many digits for a quantity. */
export function sayLongNumbers(text: string): string {
  return text
    .replace(PHONE, sayGroups)
    .replace(CARD, sayGroups)
    .replace(HYPHENATED, sayGroups)
    .replace(LONG_DIGITS, (digits) => digitGroups(digits).map(digitWords).join(', '))
    .replace(EXTENSION, digitWords)
    .replace(NAMED_CODE, (digits) => digitGroups(digits).map(digitWords).join(', '));
}

/** Keeps the writer's groups of digits, and cuts long ones once more. */
function sayGroups(number: string): string {
  const groups = number.match(/\+|\d+/g) ?? [];
  return groups
    .map((group) => (group === '+' ? 'plus' : digitGroups(group).map(digitWords).join(', ')))
    .join(', ')
    .replace('plus, ', 'plus ');
}

/** Groups of digits: ten or eleven as in a North American number, otherwise by four if possible, else by three. */
function digitGroups(digits: string): string[] {
  const { length } = digits;
  if (length <= 4) return [digits];
  if (length === 10) return cut(digits, [3, 3, 4]);
  if (length === 11 && digits.startsWith('1')) return cut(digits, [1, 3, 3, 4]);
  if (length % 4 === 0) return cut(digits, [4]);
  return length === 7 ? cut(digits, [3, 4]) : cut(digits, [GROUP_CHARS]);
}

/** Cuts by `sizes` and repeats the last size. The last group never has a single digit. */
function cut(digits: string, sizes: readonly number[]): string[] {
  const groups: string[] = [];
  for (let at = 0; at < digits.length; ) {
    const size = sizes[Math.min(groups.length, sizes.length - 1)] ?? GROUP_CHARS;
    const end = digits.length - (at + size) === 1 ? digits.length : at + size;
    groups.push(digits.slice(at, end));
    at = end;
  }
  return groups;
}

/** Spells codes, with a pause at each hyphen but before a short number, which belongs to its name: `GPT-4`. */
export function sayCodes(text: string): string {
  return text.replace(MIXED, (code) => {
    const parts = code.split('-');
    return parts
      .map((part, index) => sayPart(part, index) + gapBehind(code, part, parts[index + 1]))
      .join('')
      .replace(/^([A-Za-z]+), (?=[a-z]+(?: [a-z]+)?$)/, '$1 ');
  });
}

function gapBehind(code: string, part: string, next: string | undefined): string {
  if (next === undefined) return '';
  const isName = /^[A-Z]+$/.test(part) && isShortNumber(next);
  return isName || code.length <= GROUP_CHARS ? ' ' : ', ';
}

function isShortNumber(part: string): boolean {
  return /^\d+$/.test(part) && part.length <= SHORT_NUMBER_CHARS && !part.startsWith('0');
}

function sayPart(part: string, index: number): string {
  if (/^[A-Z]{4,}$/.test(part) && isPronounceable(part)) return part;
  if (index > 0 && isShortNumber(part)) return cardinal(Number(part));
  return /^[A-Z]+$/.test(part) ? spellLetters(part) : spellCharacters(part);
}
