/** What a caller's words mean, as the answer to a question. */
import type { FlowValue } from '../file/conditions.ts';
import { chooseSpoken } from './choices.ts';
import { ANSWER_MAX_CHARS } from './fold.ts';
import type { Item } from './items.ts';
import { readAmount, usualCurrency, writeAmount } from './kinds/amount.ts';
import { afterCorrection, withoutFillers, withoutWaiting } from './kinds/answer-words.ts';
import { readDate } from './kinds/date.ts';
import { daysBetween, parseDay, writeDay } from './kinds/days.ts';
import { itemReaderOf, readDigits } from './kinds/digits.ts';
import { readNumber } from './kinds/number.ts';
import { readPhone } from './kinds/phone.ts';
import { readTime } from './kinds/time.ts';
import { readYesNo } from './kinds/yes-no.ts';
import { findWords, regionOf } from './languages/find-words.ts';
import type { LanguageWords } from './languages/language-words.ts';
import { placeTime } from './place-time.ts';
import type { Question, Understood } from './question.ts';

const DIGITS_MAX = 64;
const OTHER_WORDS_MAX = 4;
/** Greater numbers are not held exactly. */
const NUMBER_MAX = 1e12;

/**
 * The value that `text`, the words of a caller as a recogniser wrote them, gives; null = it is no answer, several, or
 * longer than an answer (600 characters; a `text` as long as `max`). What comes behind "no wait" and the like counts
 * alone.
 * @throws RangeError when there is no such time zone
 */
export function understand(text: string, question: Question): Understood | null {
  const said = text.trim();
  if (question.kind === 'text') return isWithin(said.length, question, 1) ? { value: said } : null;
  if (said === '' || said.length > ANSWER_MAX_CHARS) return null;
  const words = findWords(question.language);
  if (question.kind === 'yesNo') return understood(readYesNo(said, words));
  if (question.kind === 'choice') return understood(readChoice(said, question));
  const answer = withoutWaiting(said, words);
  const corrected = afterCorrection(answer, words);
  const last = corrected === null || corrected.trim() === '' ? null : read(corrected, question, words);
  // "Four five, no wait, six" is not 456: digits that were taken back are asked for again.
  if (last === null && corrected !== null && /[\p{L}\p{N}]/u.test(corrected)) {
    if (question.kind === 'digits' || question.kind === 'phone') return null;
  }
  const value = last ?? read(answer, question, words);
  // Seen to last: a day out of bounds that is said behind "no wait" takes back the one before it, too.
  return understood(question.kind === 'date' && !isDayWithin(value, question) ? null : value);
}

function understood(value: FlowValue): Understood | null {
  return value === null ? null : { value };
}

function isDayWithin(value: FlowValue, question: Question): boolean {
  const { now, timeZone = 'UTC' } = question;
  const day = typeof value === 'string' ? parseDay(value) : null;
  return day !== null && isWithin(daysBetween(placeTime(now, timeZone), day), question, Number.NEGATIVE_INFINITY);
}

function readChoice(text: string, { choices = {}, language }: Question): string | null {
  const named = Object.entries(choices).map(([name, say]) => [name, { say }] as const);
  return chooseSpoken(text, Object.fromEntries(named), language);
}

function read(text: string, question: Question, words: LanguageWords): FlowValue {
  const { kind, min = 1, max = DIGITS_MAX, now, timeZone = 'UTC' } = question;
  const region = regionOf(question.language);
  const items = itemReaderOf(words).read(text, kind === 'digits');
  if (isAside(kind, items, words)) return null;
  switch (kind) {
    case 'digits':
      return readDigits(items, words, [min, max]);
    case 'phone':
      return readPhone(text, words, { min, max, region });
    case 'number':
      return limited(readNumber(items, words), question);
    case 'amount': {
      const usual = usualCurrency(words, region, question.currency);
      const amount = readAmount(items, words, usual);
      if (limited(amount?.value ?? null, question) === null || amount === null) return null;
      return writeAmount({ value: amount.value, currency: amount.currency ?? usual });
    }
    case 'date': {
      const day = readDate(items, words, { today: placeTime(now, timeZone), region });
      return day === null ? null : writeDay(day);
    }
    default:
      return readTime(items, words, placeTime(now, timeZone).minutes);
  }
}

/** Whether so much else is said that a number in it is hardly the answer. */
function isAside(kind: Question['kind'], items: readonly Item[], words: LanguageWords): boolean {
  if (kind !== 'number' && kind !== 'time' && kind !== 'amount') return false;
  return withoutFillers(items, words).filter(({ type }) => type === 'word').length > OTHER_WORDS_MAX;
}

function limited(value: number | null, limits: Question): number | null {
  return value !== null && Math.abs(value) <= NUMBER_MAX && isWithin(value, limits, Number.NEGATIVE_INFINITY)
    ? value
    : null;
}

function isWithin(value: number, { min, max = Number.POSITIVE_INFINITY }: Question, least: number): boolean {
  return value >= (min ?? least) && value <= max;
}
