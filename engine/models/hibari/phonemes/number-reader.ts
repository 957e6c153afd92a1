/** Numbers in phonemes: amounts, ordinals, years, decades, decimals, and digits one by one inside of codes. */

import type { Accent } from '../../phoneme-symbols.ts';
import { isAsciiDigits } from './characters.ts';
import type { Dictionary } from './dictionary.ts';
import { cardinalWords, decimalWords, digitWords, ordinalWords, yearWords } from './number-words.ts';
import { UNSTRESSED } from './stress.ts';
import { addEd, addIng, addS } from './suffixes.ts';
import type { WordReader } from './word-reader.ts';

/** Currencies that precede their amount, with their hundredths. */
export const CURRENCIES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['$', ['dollar', 'cent']],
  ['£', ['pound', 'pence']],
  ['€', ['euro', 'cent']],
]);

const SUFFIX = /(?:ing|'d|ed|'s|st|nd|rd|th|s)$/;
const LETTERS_BEHIND = /(?<![a-z'])[a-z']+$/;
const ORDINAL_SUFFIX = /^(?:st|nd|rd|th)$/;
const YEAR_DIGITS = 4;

/** A number as it is written, and where. */
interface WrittenNumber {
  readonly text: string;
  readonly currency: string | null;
  /** Whether nothing precedes it in its word. */
  readonly isHead: boolean;
}

/** A number without sign and suffix. */
interface BareNumber extends WrittenNumber {
  readonly isOrdinal: boolean;
  readonly isNegative: boolean;
}

/** Whether it is a number, perhaps with a suffix as in `90s` or `3rd`; a sign belongs to it at the head of a word. */
export function isNumber(word: string, isHead: boolean): boolean {
  if (!/[0-9]/.test(word)) return false;
  const bare = word.replace(SUFFIX, '');
  return (isHead ? /^-?[0-9.,]*$/ : /^[0-9.,]*$/).test(bare);
}

/** Reads the numbers of an accent. */
export class NumberReader {
  readonly #dictionary: Dictionary;
  readonly #words: WordReader;
  readonly #accent: Accent;

  constructor(options: { dictionary: Dictionary; words: WordReader; accent: Accent }) {
    this.#dictionary = options.dictionary;
    this.#words = options.words;
    this.#accent = options.accent;
  }

  /** The phonemes of what {@link isNumber} accepts; null where there is nothing to say. */
  read(number: WrittenNumber): string | null {
    const suffix = LETTERS_BEHIND.exec(number.text)?.[0] ?? '';
    const signed = suffix === '' ? number.text : number.text.slice(0, -suffix.length);
    const isNegative = signed.startsWith('-');
    const bare = {
      ...number,
      text: isNegative ? signed.slice(1) : signed,
      isOrdinal: ORDINAL_SUFFIX.test(suffix),
      isNegative,
    };
    const said = [...(isNegative ? this.#say('minus') : []), ...this.#sayBare(bare)].join(' ');
    if (said === '') return null;
    if (suffix === 's' || suffix === "'s") return addS(said, this.#accent);
    if (suffix === 'ed' || suffix === "'d") return addEd(said, this.#accent);
    return suffix === 'ing' ? addIng(said, this.#accent) : said;
  }

  /** The name of a currency behind an amount that is already in words. */
  unitOf(currency: string): string | null {
    const [unit] = CURRENCIES.get(currency) ?? [];
    return unit === undefined ? null : this.#sayPlural(unit);
  }

  #sayBare({ text, currency, isHead, isOrdinal, isNegative }: BareNumber): string[] {
    if (isAsciiDigits(text)) {
      if (isOrdinal) return this.#say(ordinalWords(text));
      const isYear = !isNegative && text.length === YEAR_DIGITS && !CURRENCIES.has(currency ?? '');
      if (isYear) return this.#say(yearWords(text));
    }
    const digits = text.replaceAll(',', '');
    if (!isHead && !text.includes('.')) return this.#sayInside(digits);
    if (!isHead || text.split('.').length > 2) return digits.split('.').flatMap((part) => this.#sayPart(part));
    const units = CURRENCIES.get(currency ?? '');
    if (units !== undefined && /^[^.]*(?:\.[^.]{0,2})?$/.test(text)) return this.#sayMoney(digits, units);
    if (!digits.includes('.')) return this.#say(isOrdinal ? ordinalWords(digits) : cardinalWords(digits));
    return this.#say(digits.startsWith('.') ? `point ${digitWords(digits.slice(1))}` : decimalWords(digits));
  }

  /** Inside a word, as in `B52` or `A380`: pairs, and more than three digits one by one. */
  #sayInside(digits: string): string[] {
    if (digits.startsWith('0') || digits.length > 3) return this.#say(digitWords(digits));
    if (digits.length < 3 || digits.endsWith('00')) return this.#say(cardinalWords(digits));
    const [hundreds = '', tens, ones = ''] = digits;
    const head = this.#say(digitWords(hundreds));
    if (tens !== '0') return [...head, ...this.#say(cardinalWords(digits.slice(1)))];
    return [...head, ...present(this.#dictionary.lookUp('O', null, UNSTRESSED, null)), ...this.#say(digitWords(ones))];
  }

  /** Between the dots of a version or an address. */
  #sayPart(digits: string): string[] {
    if (digits === '') return [];
    const isCode = digits.startsWith('0') || (digits.length !== 2 && /[1-9]/.test(digits.slice(1)));
    return this.#say(isCode ? digitWords(digits) : cardinalWords(digits));
  }

  #sayMoney(amount: string, [unit, hundredth]: readonly [string, string]): string[] {
    const [whole = '', fraction] = amount.split('.');
    const isWholeOnly = fraction === undefined || isZero(fraction);
    const said = isWholeOnly || !isZero(whole) ? this.#sayAmount(whole, unit) : [];
    if (isWholeOnly) return said;
    const and = said.length > 0 ? present(this.#dictionary.lookUp('and', null, null, null)) : [];
    return [...said, ...and, ...this.#sayAmount(fraction, hundredth)];
  }

  #sayAmount(digits: string, unit: string): string[] {
    const isSingular = /^0*1$/.test(digits) || unit === 'pence';
    const name = isSingular ? this.#dictionary.lookUp(unit, null, null, null) : this.#sayPlural(unit);
    return [...this.#say(cardinalWords(digits === '' ? '0' : digits)), ...present(name)];
  }

  #sayPlural(unit: string): string | null {
    return this.#words.readPlural({ word: `${unit}s`, tag: null, stress: null, context: null });
  }

  #say(words: string): string[] {
    return words
      .split(' ')
      .flatMap((word) => present(this.#dictionary.lookUp(word, null, word === 'point' ? UNSTRESSED : null, null)));
  }
}

function isZero(digits: string): boolean {
  return /^0*$/.test(digits);
}

function present(phonemes: string | null): string[] {
  return phonemes === null ? [] : [phonemes];
}
