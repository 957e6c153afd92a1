/** Speech that was read in stretches, put together again. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../contract.ts';
import type { Recognition } from './model.ts';

/** What was read of one stretch. */
export interface StretchReading {
  /** The sample of the whole that it begins with, at 16 kHz. */
  readonly from: number;
  readonly recognition: Recognition;
}

/** Scripts that put no space between sentences, and their punctuation. */
const SPACELESS_END = new RegExp(
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}' +
    '\\p{Script=Myanmar}\u3000-\u303f\u30fc\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]$',
  'u',
);

/**
 * Stretches as one reading. A loop in one of them is one in the whole. The language is that of the first one that has
 * text and a language.
 */
export function joinReadings(read: readonly StretchReading[]): Recognition {
  const all = read.map(({ recognition }) => recognition);
  const looped = all.some((each) => each.looped);
  const text = all.reduce((before, each) => joinTexts(before, each.text), '');
  const known = all.filter((each) => each.language !== undefined);
  const { language } = known.find((each) => each.text !== '') ?? known[0] ?? {};
  const isTimed = all.every(({ words }) => words !== undefined);
  const isSpelled = all.every(({ pieces }) => pieces !== undefined);
  return {
    text,
    tokens: looped ? [] : all.flatMap(({ tokens }) => tokens),
    logprobs: Float32Array.from(looped ? [] : all.flatMap(({ logprobs }) => [...(logprobs ?? [])])),
    looped,
    ...(language !== undefined && { language }),
    ...(isSpelled && { pieces: looped ? [] : all.flatMap(({ pieces = [] }) => pieces) }),
    ...(isTimed && !looped && { words: wordsOfStretches(read) }),
  };
}

function joinTexts(before: string, behind: string): string {
  if (before === '' || behind === '') return before + behind;
  return SPACELESS_END.test(before) ? before + behind : `${before} ${behind}`;
}

/** The words of all stretches, with their times in the whole. */
function wordsOfStretches(readings: readonly StretchReading[]): SpokenWord[] {
  return readings.flatMap(({ from, recognition: { words = [] } }) => {
    const ms = Math.round((1000 * from) / ENGINE_RATE_HZ);
    return words.map((word) => ({ ...word, startMs: word.startMs + ms, endMs: word.endMs + ms }));
  });
}
