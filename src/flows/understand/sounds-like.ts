/** How much two words are alike, for what a recogniser misheard: "sails" for "sales". */
import type { LanguageWords } from './languages/language-words.ts';

/** Vowels are misheard more often than consonants, and some consonants for one another. */
const VOWEL = /[aeiou]/;
const VOWEL_COST = 0.5;
const NEAR_COST = 0.5;
const NEAR = ['bp', 'dt', 'gk', 'fv', 'sz', 'mn', 'sx', 'xj', 'sf', 'lr'];
const NEAR_PAIRS = new Set(NEAR.flatMap((pair) => [pair, `${pair.charAt(1)}${pair.charAt(0)}`]));
/** Longer words are compared by their beginnings. */
const WORD_MAX_CHARS = 40;

/** `word` (folded) without what does not sound: `sails` and `sales` have one code. */
export function soundCode(word: string, words: LanguageWords): string {
  return words.sounds.reduce((code, [pattern, by]) => code.replace(pattern, by), word.slice(0, WORD_MAX_CHARS));
}

/** `word` (folded) without its ending, so that forms of one word are the same: `orders`, `ordering`. */
export function stem(word: string, { endings }: LanguageWords): string {
  const ending = endings.find((each) => word.endsWith(each) && word.length - each.length >= 3);
  return ending === undefined ? word : word.slice(0, -ending.length);
}

/** From 0, nothing in common, to 1, the same: by sounds, and by letters where that is more. */
export function likeness(a: string, b: string, words: LanguageWords): number {
  const [first, second] = [a.slice(0, WORD_MAX_CHARS), b.slice(0, WORD_MAX_CHARS)];
  return Math.max(alike(soundCode(first, words), soundCode(second, words)), alike(first, second));
}

function alike(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  return longest === 0 ? 0 : 1 - editCost(a, b) / longest;
}

/** Levenshtein's distance, where what is misheard easily costs less. */
function editCost(a: string, b: string): number {
  let costs = [0];
  for (const letter of b) costs.push((costs.at(-1) ?? 0) + costOf(letter));
  for (const letter of a) {
    const next = [(costs[0] ?? 0) + costOf(letter)];
    for (const [column, other] of [...b].entries()) {
      const replaced = (costs[column] ?? 0) + replaceCost(letter, other);
      next.push(Math.min(replaced, (costs[column + 1] ?? 0) + costOf(letter), (next[column] ?? 0) + costOf(other)));
    }
    costs = next;
  }
  return costs.at(-1) ?? 0;
}

function costOf(letter: string): number {
  return VOWEL.test(letter) ? VOWEL_COST : 1;
}

function replaceCost(a: string, b: string): number {
  if (a === b) return 0;
  if (VOWEL.test(a) && VOWEL.test(b)) return VOWEL_COST;
  return NEAR_PAIRS.has(a + b) ? NEAR_COST : 1;
}
