import { splitWords } from './words.ts';

/** What of a text is digits. */
export interface SpokenDigits {
  /** How many digits it has, written or spoken: "four one 55" has four. */
  readonly count: number;
  /** Whether nothing else is said: digits, and words that go with them ("my number is", "dash", "um"). */
  readonly only: boolean;
}

/** Number words, and how many digits each stands for. */
const DIGITS_OF: ReadonlyMap<string, number> = new Map([
  ...count(1, 'zero oh o nought naught one two three four five six seven eight nine'),
  ...count(2, 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'),
  ...count(2, 'twenty thirty forty fifty sixty seventy eighty ninety'),
]);
const TENS = new Set('twenty thirty forty fifty sixty seventy eighty ninety'.split(' '));
const UNITS = new Set('one two three four five six seven eight nine'.split(' '));
/** They make more of the digit that follows. */
const REPEATS: ReadonlyMap<string, number> = new Map([
  ['double', 1],
  ['triple', 2],
  ['treble', 2],
]);
/** Words around digits that are not an answer by themselves (English). */
const AROUND = new Set(
  (
    'um uh er erm ah so okay ok yes yeah sure well and then its it is thats that my the a number numbers account ' +
    'card phone telephone mobile code area zip postal pin reference order id extension plus dash hyphen minus ' +
    'slash space point dot hash pound star please here heres'
  ).split(' '),
);
const FIGURES = /^\p{Nd}+$/u;

/** Counts the digits of what is said. Number words are English; figures of every language count. */
export function spokenDigits(text: string): SpokenDigits {
  // A hyphen joins groups of figures, and tens with units.
  const keys = splitWords(text.replace(/[-–./(),]/gu, ' ')).map(({ key }) => key);
  let digits = 0;
  let only = true;
  keys.forEach((key, index) => {
    if (FIGURES.test(key)) digits += key.length;
    else if (UNITS.has(key) && TENS.has(keys[index - 1] ?? '')) return;
    else if (DIGITS_OF.has(key)) digits += DIGITS_OF.get(key) ?? 0;
    else if (REPEATS.has(key)) digits += REPEATS.get(key) ?? 0;
    else if (!AROUND.has(key)) only = false;
  });
  return { count: digits, only: only && keys.length > 0 };
}

function count(digits: number, words: string): [string, number][] {
  return words.split(' ').map((word) => [word, digits]);
}
