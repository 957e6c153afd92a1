import { type Item, ItemReader } from '../items.ts';
import type { LanguageWords } from '../languages/language-words.ts';
import { perLanguage } from '../per-language.ts';
import { PhraseTable } from '../phrase-table.ts';

/** The items of a text, by language. */
export const itemReaderOf = perLanguage((words) => new ItemReader(words));

const tablesOf = perLanguage(({ numbers }) => ({
  amongDigits: new PhraseTable(numbers.amongDigits),
  repeats: new PhraseTable(numbers.repeats),
}));

/** More digits than anybody dictates. */
const DIGITS_MAX = 64;

/** A stretch of digits; `doubtful` ones are words that could be digits: "for", "oh". */
interface Stretch {
  readonly digits: string;
  readonly doubtful: boolean;
  /** Nothing stands before it, so that "for" can be a word. */
  readonly isLeading?: boolean;
}

/**
 * The digits that are said in `items`, between `min` and `max` of them; null = fewer or more. Words that only sound
 * like digits count between digits, and only where there are too few without them.
 */
export function readDigits(items: readonly Item[], words: LanguageWords, [min, max]: [number, number]): string | null {
  const stretches = findStretches(items, words);
  const sure = stretches.filter(({ doubtful }) => !doubtful);
  const inside = stretches.filter(({ isLeading }) => isLeading !== true);
  const usual = stretches.filter((stretch) => !stretch.doubtful || stretch.digits === '0');
  // Where nothing but digits is said, what sounds like one is one.
  const first = stretches.length === items.length ? inside : usual;
  const readings = [first, inside, stretches, sure];
  for (const reading of readings) {
    if (sure.length === 0) continue;
    const digits = reading.map((stretch) => stretch.digits).join('');
    if (digits.length >= min && digits.length <= max) return digits;
    // Who says a number twice means it once.
    const half = digits.slice(0, digits.length / 2);
    if (digits === half + half && half.length >= min && half.length <= max) return half;
  }
  return null;
}

function findStretches(items: readonly Item[], words: LanguageWords): Stretch[] {
  const { amongDigits, repeats } = tablesOf(words);
  const stretches: Stretch[] = [];
  for (let at = 0; at < items.length && stretches.length <= DIGITS_MAX; at++) {
    const item = items[at];
    if (item === undefined) break;
    const repeat = item.type === 'word' ? repeats.find(items, at) : null;
    if (repeat !== null) {
      const digits = digitsAt(items[at + repeat.length], amongDigits);
      if (digits === null) continue;
      stretches.push({ digits: digits.charAt(0).repeat(repeat.value - 1) + digits, doubtful: false });
      at += repeat.length;
      continue;
    }
    if (item.type === 'number') {
      if (item.figures !== '' || !item.isOrdinal) stretches.push({ digits: item.digits, doubtful: false });
      continue;
    }
    const doubtful = amongDigits.get(item.text);
    const isLeading = doubtful !== 0 && at === 0 && items[1]?.type === 'number';
    if (doubtful !== null && (isLeading || isAmong(items, at, doubtful === 0)))
      stretches.push({ digits: String(doubtful), doubtful: true, isLeading });
  }
  return stretches;
}

function digitsAt(item: Item | undefined, amongDigits: PhraseTable<number>): string | null {
  if (item?.type === 'number') return item.digits;
  const digit = item === undefined ? null : amongDigits.get(item.text);
  return digit === null ? null : String(digit);
}

/** Whether numbers stand on both sides; one side is enough for "oh" and at the end. */
function isAmong(items: readonly Item[], at: number, isZero: boolean): boolean {
  const [before, behind] = [items[at - 1], items[at + 1]];
  if (isZero) {
    // "oh oh seven": other zeros may stand between.
    const near = items.slice(at + 1).find(({ text }) => text !== items[at]?.text);
    return before?.type === 'number' || near?.type === 'number';
  }
  return before?.type === 'number' && (behind === undefined || behind.type === 'number');
}
