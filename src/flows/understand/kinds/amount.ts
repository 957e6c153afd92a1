import type { Item } from '../items.ts';
import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { PhraseTable, phraseSet } from '../phrase-table.ts';
import { withoutFillers, withoutPhrases } from './answer-words.ts';
import { type FoundNumber, findNumbers } from './number.ts';

const tablesOf = perLanguage(({ money, numbers }) => ({
  currencies: new PhraseTable(money.currencies),
  parts: phraseSet(money.parts),
  and: phraseSet(`${numbers.and}, ${numbers.point}`),
  zero: new PhraseTable(numbers.amongDigits),
}));

/** Currencies of the dollar's name: what "dollar" means follows the currency that was asked for, or the region. */
const DOLLARS = new Set(['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD']);
const PARTS_OF_UNIT = 100;

/** An amount of money; `currency` null = none was said. */
export interface Amount {
  readonly value: number;
  readonly currency: string | null;
}

/** What money is called that nobody named: `asked`, or that of the region. */
export function usualCurrency(words: LanguageWords, region: string, asked: string | undefined): string {
  return asked ?? words.money.regions[region] ?? words.money.regions['*'] ?? 'EUR';
}

/**
 * The one amount in `items`: "twelve fifty" and "twelve euros and fifty cents" are 12.50, "fifty cents" is 0.50.
 * `usual` is the currency of dollars without a country. Null = none, or several.
 */
export function readAmount(items: readonly Item[], words: LanguageWords, usual: string): Amount | null {
  const numbers = findNumbers(items, words).filter(({ value }) => !Number.isNaN(value));
  const [first, second, third] = numbers;
  if (first === undefined || hasLooseCurrency(items, numbers, words)) return null;
  const { currencies, parts } = tablesOf(words);
  const before = first.from > 0 ? currencies.find(items, first.from - 1) : null;
  const behind = currencies.find(items, first.to);
  const named = (behind ?? before)?.value ?? null;
  const currency = named === '$' ? (DOLLARS.has(usual) ? usual : 'USD') : named;
  if (behind === null && before === null && isUnknown(items.slice(first.to, first.to + 1), words)) return null;
  if (second === undefined) {
    const isParts = behind === null && parts.find(items, first.to) !== null;
    return isParts ? { value: round(first.value / PARTS_OF_UNIT), currency } : { value: round(first.value), currency };
  }
  const hundredths = partsOf(items, words, {
    first,
    second,
    from: first.to + (behind?.length ?? 0),
    isNamed: behind !== null,
  });
  if (third !== undefined || hundredths === null) return null;
  const last = currencies.find(items, second.to)?.value ?? null;
  const spoken = currency ?? (last === '$' ? (DOLLARS.has(usual) ? usual : 'USD') : last);
  return { value: round(first.value + hundredths / PARTS_OF_UNIT), currency: spoken };
}

/** Whether a word stands there that means nothing for amounts: it was a currency, perhaps. */
function isUnknown(items: readonly Item[], words: LanguageWords): boolean {
  const { and, zero, parts } = tablesOf(words);
  const left = withoutPhrases(withoutFillers(items, words), [and, parts]);
  return left.some(({ type, text }) => type === 'word' && zero.get(text) === null);
}

/** The hundredths that `second` says behind `first`; null = it is another number. */
function partsOf(
  items: readonly Item[],
  words: LanguageWords,
  { first, second, from, isNamed }: { first: FoundNumber; second: FoundNumber; from: number; isNamed: boolean },
): number | null {
  const { and, zero, parts } = tablesOf(words);
  if (!Number.isInteger(first.value) || !Number.isInteger(second.value)) return null;
  if (second.value < 0 || second.value >= PARTS_OF_UNIT) return null;
  const isZeroBefore = zero.find(items, second.from - 1)?.value === 0;
  const to = isZeroBefore ? second.from - 1 : second.from;
  const between = items.slice(from, to);
  const isLinked = between.length === 0 || (isNamed && and.find(between, 0)?.length === between.length);
  if (!isLinked) return null;
  const hasParts = parts.find(items, second.to) !== null;
  // "Twelve five" could be 12.05, 12.50 or two numbers.
  return hasParts || isZeroBefore || second.value >= 10 ? second.value : null;
}

/** Whether a currency is named that belongs to no number: the number before it was not understood. */
function hasLooseCurrency(items: readonly Item[], numbers: readonly FoundNumber[], words: LanguageWords): boolean {
  const { currencies } = tablesOf(words);
  const ends = new Set(numbers.map(({ to }) => to));
  const begins = new Set(numbers.map(({ from }) => from));
  for (let at = 0; at < items.length; ) {
    const length = currencies.find(items, at)?.length ?? 0;
    if (length > 0 && !ends.has(at) && !begins.has(at + length)) return true;
    at += Math.max(length, 1);
  }
  return false;
}

function round(value: number): number {
  return Math.round(value * PARTS_OF_UNIT) / PARTS_OF_UNIT;
}

/** `EUR 12.50`. Yen have no hundredths. */
export function writeAmount({ value, currency }: { readonly value: number; readonly currency: string }): string {
  return `${currency} ${currency === 'JPY' ? String(Math.round(value)) : value.toFixed(2)}`;
}
