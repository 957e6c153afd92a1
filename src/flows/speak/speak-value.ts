/** How the values of variables are said. */
import type { FlowValue } from '../file/conditions.ts';
import type { ValueFormat } from '../prompts/prompt-text.ts';
import { daysBetween, parseDay, weekdayOf } from '../understand/kinds/days.ts';
import { placeTime } from '../understand/place-time.ts';
import { phoneGroups } from './digit-groups.ts';
import { findSpokenLanguage } from './languages/find-language.ts';
import type { SpokenLanguage } from './languages/spoken-language.ts';

/** What a format needs beside the value. */
export interface SpeakOptions {
  /** Of amounts that name none, such as EUR. */
  readonly currency?: string | undefined;
  /** With it, days of the next months are said with their weekday and without their year. */
  readonly now?: Date | undefined;
  /** Of `now` (IANA); UTC unless given. */
  readonly timeZone?: string | undefined;
}

const NUMBER_MAX = 999_999_999_999;
/** So many days ahead, a day of a month can be no other. */
const NEAR_DAYS = 330;
const PARTS_OF_UNIT = 100;
/** Digits in a row that are said without a pause. */
const GROUP_DIGITS = 4;

/**
 * The words that say `value` in `language` by `format` (`text` = as it is). Numbers are written out, so that each voice
 * says them alike. What the format cannot say (a date that is none), and every value in a language whose words are not
 * known, is said as a text; null is said as nothing.
 */
export function speakValue(
  value: FlowValue,
  format: ValueFormat | 'text',
  language: string,
  options: SpeakOptions = {},
): string {
  if (value === null) return '';
  const text = String(value);
  const spoken = findSpokenLanguage(language);
  if (spoken === null) return text;
  if (typeof value === 'boolean') return value ? spoken.yes : spoken.no;
  return speak(text, format, spoken, options) ?? text;
}

/** Null = the format cannot say it. */
function speak(
  text: string,
  format: ValueFormat | 'text',
  spoken: SpokenLanguage,
  options: SpeakOptions,
): string | null {
  switch (format) {
    case 'digits':
      return speakDigits(text, spoken);
    case 'number':
      return speakNumber(text, spoken);
    case 'date':
      return speakDate(text, spoken, options);
    case 'time':
      return speakTime(text, spoken);
    case 'amount':
      return speakAmount(text, spoken, options.currency);
    case 'phone':
      return speakPhone(text, spoken);
    case 'spell':
      return speakLetters(text, spoken);
    default:
      return null;
  }
}

/** One by one, with a pause (a comma) between groups. */
function speakDigits(text: string, spoken: SpokenLanguage): string | null {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{1,64}$/.test(digits)) return null;
  return sayGroups(evenGroups(digits), spoken);
}

function sayGroups(groups: readonly string[], spoken: SpokenLanguage): string {
  return groups.map((group) => Array.from(group, (digit) => spoken.digits[Number(digit)]).join(' ')).join(', ');
}

/** Groups of four at most, as even as can be: 3 3 for six digits, 3 2 for five. */
function evenGroups(digits: string): string[] {
  const count = Math.ceil(digits.length / GROUP_DIGITS);
  const groups: string[] = [];
  for (let at = 0; at < digits.length; ) {
    const size = Math.ceil((digits.length - at) / (count - groups.length));
    groups.push(digits.slice(at, at + size));
    at += size;
  }
  return groups;
}

function speakNumber(text: string, spoken: SpokenLanguage): string | null {
  const [, minus = '', whole = '', decimals] = /^(-?)(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  if (whole === '' || Number(whole) > NUMBER_MAX) return null;
  const sign = minus === '' ? '' : `${spoken.minus} `;
  const said = `${sign}${spoken.cardinal(Number(whole))}`;
  return decimals === undefined ? said : `${said} ${spoken.point} ${sayGroups([decimals], spoken)}`;
}

function speakDate(text: string, spoken: SpokenLanguage, { now, timeZone = 'UTC' }: SpeakOptions): string | null {
  const day = parseDay(text);
  if (day === null) return null;
  const ahead = now === undefined ? -1 : daysBetween(placeTime(now, timeZone), day);
  return spoken.date({ ...day, weekday: weekdayOf(day) }, ahead < 0 || ahead > NEAR_DAYS);
}

function speakTime(text: string, spoken: SpokenLanguage): string | null {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hour === undefined ? null : spoken.time(Number(hour), Number(minute));
}

function speakAmount(text: string, spoken: SpokenLanguage, asked: string | undefined): string | null {
  const [, named, minus = '', amount] = /^(?:([A-Z]{3}) )?(-?)(\d{1,12}(?:\.\d{1,2})?)$/.exec(text) ?? [];
  const currency = named ?? asked;
  if (amount === undefined) return null;
  const words = currency === undefined ? undefined : spoken.currencies[currency];
  if (words === undefined) {
    const number = speakNumber(`${minus}${amount.replace(/\.00$/, '')}`, spoken);
    return number === null ? null : [number, currency].filter((word) => word !== undefined).join(' ');
  }
  const [one, many, part, parts] = words;
  const hundredths = Math.round(Number(amount) * PARTS_OF_UNIT);
  const [units, rest] = [Math.floor(hundredths / PARTS_OF_UNIT), hundredths % PARTS_OF_UNIT];
  const said: string[] = [];
  if (units > 0 || rest === 0 || part === undefined)
    said.push(`${spoken.counted(units, one)} ${units === 1 ? one : many}`);
  if (rest > 0 && part !== undefined) said.push(`${spoken.counted(rest, part)} ${rest === 1 ? part : (parts ?? part)}`);
  return `${minus === '' ? '' : `${spoken.minus} `}${said.join(spoken.partsAnd)}`;
}

function speakPhone(text: string, spoken: SpokenLanguage): string | null {
  const number = text.replace(/[\s()./-]/g, '');
  if (!/^\+?\d{1,20}$/.test(number)) return null;
  const said = sayGroups(phoneGroups(number), spoken);
  return number.startsWith('+') ? `${spoken.plus} ${said}` : said;
}

/** Letters by themselves, digits and signs by name, each behind a pause. */
function speakLetters(text: string, spoken: SpokenLanguage): string {
  const said = Array.from(text.normalize('NFC').replace(/\s+/g, ' ').trim(), (character) => {
    if (/^\d$/.test(character)) return spoken.digits[Number(character)];
    return spoken.signs[character] ?? character.toUpperCase();
  });
  return said.filter((word) => word !== ' ' && word !== undefined).join(', ');
}
