/**
 * Own echo: on a line without an echo canceller the caller's track carries our own voice, a little later. It is told by
 * its words: what was recognised has, in order, the words of what was played just before.
 */
import { splitWords } from '../../transcription/words.ts';

/** Longest way of our voice to the caller's telephone and back, with the carrier's buffers. */
export const ECHO_DELAY_MAX_MS = 2000;
/**
 * Share of the recognised words that must have been played: recognition of an echo is not perfect, people do not quote
 * at this length.
 */
const ECHO_SIMILARITY = 0.7;
/** Fewer words than this may be an answer that repeats ours ("coffee or tea?" "tea"). */
const ECHO_WORDS_MIN = 3;
/** Words this long may differ in one letter. */
const FUZZY_LENGTH_MIN = 4;

/**
 * An echo has all its words together: what was played has at most so many times as many there. "Yes, that is right" has
 * words of the beginning and of the end of "That is Friday at three. Is that right?".
 */
const ECHO_SPREAD = 1.5;
/** What answers begin with, and an echo only if it was played: yes and no in the languages of flows. */
const ANSWERS = new Set('yes yeah yep yup no nope ja nein doch sí si oui non'.split(' '));

/** How much of `text` are words of a stretch of `played`, in the same order: 0–1; 0 when it is empty, or an answer. */
export function echoSimilarity(text: string, played: string): number {
  const words = keysOf(text);
  const others = keysOf(played);
  const [first] = words;
  if (first === undefined || (ANSWERS.has(first) && !others.includes(first))) return 0;
  const size = Math.ceil(words.length * ECHO_SPREAD);
  let most = 0;
  for (let from = 0; from === 0 || from + size <= others.length; from++)
    most = Math.max(most, commonWords(words, others.slice(from, from + size)));
  return most / words.length;
}

/** Whether `text` may be an echo of `played`, so that it is no reason to stop speaking. */
export function mayBeEcho(text: string, played: string): boolean {
  return echoSimilarity(text, played) >= ECHO_SIMILARITY;
}

/** Whether `text` is so certainly an echo of `played` that nobody needs to read it. */
export function isEcho(text: string, played: string): boolean {
  return keysOf(text).length >= ECHO_WORDS_MIN && mayBeEcho(text, played);
}

function keysOf(text: string): string[] {
  return splitWords(text).map(({ key }) => key);
}

/** Length of the longest common subsequence. */
function commonWords(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    for (const [index, other] of b.entries()) {
      next.push(sameWord(word, other) ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The same, or the same but for one letter. */
function sameWord(a: string, b: string): boolean {
  if (a === b) return true;
  if (Math.min(a.length, b.length) < FUZZY_LENGTH_MIN || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return Math.max(a.length, b.length) - start - end <= 1;
}
