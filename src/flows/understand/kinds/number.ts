import type { Item, NumberItem } from '../items.ts';
import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { PhraseTable, phraseSet } from '../phrase-table.ts';
import { withoutFillers } from './answer-words.ts';

const tablesOf = perLanguage(({ numbers }) => ({
  point: phraseSet(numbers.point),
  minus: phraseSet(numbers.minus),
  andHalf: phraseSet(numbers.andHalf),
  quantities: new PhraseTable(numbers.quantities),
}));

/** A number in a text, and where it begins and ends among the items. */
export interface FoundNumber {
  readonly value: number;
  readonly items: readonly NumberItem[];
  readonly from: number;
  readonly to: number;
}

/** All numbers in `items`, with their signs and decimals: "minus one point five" is one. */
export function findNumbers(items: readonly Item[], words: LanguageWords): FoundNumber[] {
  const { point, minus, andHalf } = tablesOf(words);
  const found: FoundNumber[] = [];
  for (let at = 0; at < items.length; at++) {
    const first = items[at];
    if (first?.type !== 'number') continue;
    let [value, to] = [first.value, at + 1];
    const mark = point.find(items, to)?.length ?? 0;
    const decimals = mark === 0 || !Number.isInteger(value) ? [] : numbersFrom(items, to + mark);
    if (decimals.length > 0) {
      value = Number(`${value}.${decimals.map(({ digits }) => digits).join('')}`);
      to += mark + decimals.length;
    }
    const half = andHalf.find(items, to);
    if (half !== null) [value, to] = [value + 0.5, to + half.length];
    const isNegative = at > 0 && minus.find(items, at - 1) !== null;
    const from = isNegative ? at - 1 : at;
    found.push({ value: isNegative ? -value : value, items: [first, ...decimals], from, to });
    at = to - 1;
  }
  return found;
}

/** The one number that `text` says; null = none, or several. "One two three" is 123, "twenty twenty seven" 2027. */
export function readNumber(items: readonly Item[], words: LanguageWords): number | null {
  const numbers = findNumbers(items, words);
  if (numbers.length === 0) {
    const rest = withoutFillers(items, words);
    const { quantities } = tablesOf(words);
    const whole = quantities.find(items, 0);
    if (whole?.length === items.length) return whole.value;
    const found = quantities.find(rest, 0);
    return found?.length === rest.length ? found.value : null;
  }
  const [first, second] = numbers;
  if (first === undefined || numbers.some(({ value }) => Number.isNaN(value))) return null;
  if (numbers.every(({ value }) => value === first.value)) return first.value;
  const isRow = numbers.every(({ from }, index) => index === 0 || from === numbers[index - 1]?.to);
  if (!isRow) return null;
  if (numbers.every(({ value }) => isWithin(value, 0, 9))) return Number(numbers.map(({ value }) => value).join(''));
  const isPair =
    numbers.length === 2 && second !== undefined && isWithin(first.value, 10, 99) && isWithin(second.value, 10, 99);
  return isPair ? first.value * 100 + second.value : null;
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function numbersFrom(items: readonly Item[], at: number): NumberItem[] {
  const found: NumberItem[] = [];
  for (let item = items[at]; item?.type === 'number' && !item.isOrdinal; item = items[at + found.length])
    found.push(item);
  return found;
}
