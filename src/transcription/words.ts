/** A word of a hypothesis as it is written there, with the punctuation that clings to it. */
export interface Word {
  readonly text: string;
  /** Without case and punctuation: two words with one key are the same word. */
  readonly key: string;
  /** Whether a space stands before it when it is not the first. */
  readonly spaced: boolean;
}

/** Scripts that write no spaces between words, for a character class: there every character counts as a word. */
export const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const TOKEN = new RegExp(`(?<!\\s)(\\s*)([${UNSPACED}]\\p{M}*|[^\\s${UNSPACED}]+)`, 'gu');
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const OPENING = /^[\p{Ps}\p{Pi}]+$/u;
/** What is not spoken: everything but letters, digits and marks. */
export const NOT_SPOKEN = /[^\p{L}\p{N}\p{M}]/gu;

/** Whether a space stands before `text` when other text does: not where its script has none. */
export function startsSpaced(text: string): boolean {
  return !STARTS_UNSPACED.test(text);
}

/**
 * Splits a hypothesis into words. Punctuation standing alone goes with the word before it, or with the first word; a
 * bracket that opens before a letter of a script without spaces goes with that.
 */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  let leading = '';
  let opening = '';
  for (const { 0: whole, 1: space = '', 2: token = '', index } of text.matchAll(TOKEN)) {
    const key = token.normalize('NFKC').toLowerCase().replace(NOT_SPOKEN, '');
    const gap = space === '' ? '' : ' ';
    if (key !== '') {
      const first = words.length === 0;
      words.push({
        text: (leading === '' ? '' : leading + gap) + opening + token,
        key,
        spaced: first ? startsSpaced(token) : opening === '' && gap !== '',
      });
      leading = '';
      opening = '';
      continue;
    }
    if (words.length > 0 && OPENING.test(token) && STARTS_UNSPACED.test(text.slice(index + whole.length))) {
      opening = token;
      continue;
    }
    const before = words.pop();
    if (before === undefined) leading += (leading === '' ? '' : gap) + token;
    else words.push({ ...before, text: before.text + gap + token });
  }
  return words;
}

/** Writes `words` after `before`, with spaces where their script has them. */
export function joinWords(before: string, words: readonly Pick<Word, 'text' | 'spaced'>[]): string {
  let text = before;
  for (const word of words) text += (text !== '' && word.spaced ? ' ' : '') + word.text;
  return text;
}

/** How many words two hypotheses have in common from their beginning. */
export function commonPrefix(a: readonly Word[], b: readonly Word[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length]?.key === b[length]?.key) length++;
  return length;
}

/**
 * How many words at the beginning of `newer` stand for the words of `known`: the prefix with the fewest insertions,
 * deletions and substitutions; of equals the one nearest to `wanted` in length, which is that of `known` unless given.
 */
export function alignedLength(known: readonly Word[], newer: readonly Word[], wanted: number = known.length): number {
  if (commonPrefix(known, newer) === known.length) return known.length;
  let costs = Array.from({ length: newer.length + 1 }, (_, column) => column);
  known.forEach((word, row) => {
    const next = [row + 1];
    for (let column = 1; column <= newer.length; column++) {
      const substituted = (costs[column - 1] ?? 0) + (newer[column - 1]?.key === word.key ? 0 : 1);
      next.push(Math.min(substituted, (costs[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    costs = next;
  });
  return bestColumn(costs, wanted);
}

function bestColumn(costs: readonly number[], wanted: number): number {
  const least = Math.min(...costs);
  let best = 0;
  costs.forEach((cost, column) => {
    if (cost === least && (costs[best] !== least || Math.abs(column - wanted) <= Math.abs(best - wanted)))
      best = column;
  });
  return best;
}

/**
 * Joins `newer`, the words of a window that begins later than the utterance, to the words `known` so far: at the
 * longest run of words that both have, the latest one of equals. The words of `newer` before the run are given up (the
 * window cut the first of them in two), those of `known` after its beginning replaced. Without any common word, `newer`
 * is new and goes behind.
 */
export function mergeWords(known: readonly Word[], newer: readonly Word[]): Word[] {
  let longest = 0;
  let knownFrom = known.length;
  let newerFrom = 0;
  let runs = new Array<number>(newer.length + 1).fill(0);
  known.forEach((word, row) => {
    const next = [0];
    newer.forEach((other, column) => {
      const run = word.key === other.key ? (runs[column] ?? 0) + 1 : 0;
      next.push(run);
      if (run === 0 || run < longest || (run === longest && row + 1 - run === knownFrom)) return;
      longest = run;
      knownFrom = row + 1 - run;
      newerFrom = column + 1 - run;
    });
    runs = next;
  });
  return [...known.slice(0, knownFrom), ...newer.slice(newerFrom)];
}
