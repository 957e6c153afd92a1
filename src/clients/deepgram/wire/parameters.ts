/** The parameters of a Deepgram URL: texts, repeated ones as lists. */
import { TrunklineError } from '../../../foundation/errors.ts';
import { boundHotWords, tidyHotWords } from '../../../foundation/hot-words.ts';
import { describe } from '../../../protocols/json.ts';

/** A query as a server reads it. */
export type Query = Readonly<Record<string, unknown>>;

const TRUE = ['true', '1'];
const FALSE = ['false', '0'];

/** What stands between a keyword and its weight: `Trunkline:2`. */
const WEIGHT = /:-?\d+(?:\.\d+)?$/;

/** Names that are told in the log: those of parameters, not what somebody typed. */
const NAME = /^[A-Za-z][\w.-]{0,39}$/;
const NAMES_MAX = 20;

/** The complaint that a parameter holds `value`. */
export function wrong(name: string, value: unknown, expected: string): TrunklineError {
  return new TrunklineError('invalid_request', `${name}: got ${describe(value)}, expected ${expected}`, name);
}

/** The first text of a parameter; null = it was not given, or is empty. */
export function textOf(query: Query, name: string): string | null {
  const value = Object.hasOwn(query, name) ? query[name] : undefined;
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : null;
}

/** @throws TrunklineError `invalid_request` for anything but true and false, in any case, and 1 and 0 */
export function flagOf(query: Query, name: string): boolean {
  const text = textOf(query, name);
  if (text === null || FALSE.includes(text.toLowerCase())) return false;
  if (TRUE.includes(text.toLowerCase())) return true;
  throw wrong(name, text, 'true or false');
}

/** A whole number in a range; null = not given. @throws TrunklineError `invalid_request` */
export function numberOf(query: Query, name: string, range: { min: number; max: number; unit: string }): number | null {
  const text = textOf(query, name);
  if (text === null) return null;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw wrong(name, text, `${range.min} to ${range.max}${range.unit === '' ? '' : ` ${range.unit}`}`);
}

/** A share from 0 to 1; null = not given. @throws TrunklineError `invalid_request` */
export function shareOf(query: Query, name: string): number | null {
  const text = textOf(query, name);
  if (text === null) return null;
  const value = /^(?:0|1)?(?:\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw wrong(name, text, 'a number from 0 to 1');
}

/**
 * The words that `keyterm` and `keywords` ask for, without their weights: as many of them as a recogniser takes, for
 * Deepgram takes more.
 */
export function hotWordsOf(query: Query): string[] {
  const texts = ['keyterm', 'keywords'].flatMap((name) => (Object.hasOwn(query, name) ? query[name] : []));
  const words = texts.filter((text): text is string => typeof text === 'string');
  return boundHotWords(tidyHotWords(words.map((word) => word.replace(WEIGHT, ''))));
}

/** The language of a request; null = the recogniser finds it out, or assumes one. */
export function languageOf(query: Query): string | null {
  const language = textOf(query, 'language');
  return language === null || language.toLowerCase() === 'multi' ? null : language;
}

/** A key, where a client can send it nowhere else. */
const KEY_PARAMETER = 'token';

/** Names of parameters that are not `known`, for the log. */
export function otherNames(query: Query, known: readonly string[]): string[] {
  return Object.keys(query)
    .filter((name) => NAME.test(name) && name !== KEY_PARAMETER && !known.includes(name))
    .slice(0, NAMES_MAX);
}
