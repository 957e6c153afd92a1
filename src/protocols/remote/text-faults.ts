import { isInvented } from './invented-texts.ts';

/**
 * Why what a recogniser made of speech is no answer: it has no words, its words are some that models are known to
 * invent, or nobody speaks so fast.
 */
export const TEXT_FAULTS = ['empty', 'invented', 'too_fast'] as const;
export type TextFault = (typeof TEXT_FAULTS)[number];

const RATE_HZ = 16_000;

/**
 * More than anybody says in so many seconds: fast talkers say 5 words a second, with 25 letters, or 8 syllables. The
 * least of each allows for a stretch that begins in the middle of a word.
 */
const WORDS = { atLeast: 4, perSecond: 8 };
const LETTERS = { atLeast: 24, perSecond: 40 };
/** Of Chinese, Japanese and Korean, a syllable or more each. */
const SYLLABLES = { atLeast: 6, perSecond: 13 };

/** What is wrong with `text` as the reading of `samples` of speech at 16 kHz; null = nothing that can be seen. */
export function findTextFault(text: string, samples: number): TextFault | null {
  if (!hasWords(text)) return 'empty';
  if (isInvented(text)) return 'invented';
  return isTooFast(text, samples / RATE_HZ) ? 'too_fast' : null;
}

/** Whether there is a letter or a digit in `text`. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function isTooFast(text: string, seconds: number): boolean {
  const words = text.split(/\s+/).filter(hasWords).length;
  const syllables = countOf(text, /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu);
  const letters = countOf(text, /[\p{L}\p{N}]/gu) - syllables;
  const isMore = (count: number, { atLeast, perSecond }: typeof WORDS) => count > atLeast + perSecond * seconds;
  return isMore(words, WORDS) || isMore(letters, LETTERS) || isMore(syllables, SYLLABLES);
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
