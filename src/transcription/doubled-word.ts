import { joinWords, splitWords } from './words.ts';

/** A word that is cut in two is recognised in both halves only if enough of it is in each. */
const SHARED_MIN_CHARS = 4;

/**
 * `text` without a first word that `before` ends with already: for two clips between which speech was cut without a
 * pause, where a word that the cut went through may have been recognised twice, in one of them perhaps only its
 * beginning.
 */
export function withoutDoubled(before: string, text: string): string {
  const last = splitWords(before).at(-1);
  const [first, ...others] = splitWords(text);
  if (last === undefined || first === undefined || !isSameWord(last.key, first.key)) return text;
  return joinWords('', others);
}

function isSameWord(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= SHARED_MIN_CHARS && long.startsWith(short);
}
