/** Speech that was read in stretches, put together again. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../contract.ts';
import type { Recognition } from './model.ts';

/** What was read of one stretch. */
export interface StretchReading {
  /** The sample of the whole that it begins with, at 16 kHz. */
  readonly from: number;
  readonly recognition: Recognition;
}

/** The words of all stretches, with their times in the whole. */
export function wordsOfStretches(readings: readonly StretchReading[]): SpokenWord[] {
  return readings.flatMap(({ from, recognition: { words = [] } }) => {
    const ms = Math.round((1000 * from) / ENGINE_RATE_HZ);
    return words.map((word) => ({ ...word, startMs: word.startMs + ms, endMs: word.endMs + ms }));
  });
}

/**
 * Stretches as one reading. A loop in one of them is one in the whole. The language is that of the first one that has
 * text.
 */
export function joinReadings(read: readonly StretchReading[]): Recognition {
  const all = read.map(({ recognition }) => recognition);
  const looped = all.some((each) => each.looped);
  const text = all.flatMap((each) => (each.text === '' ? [] : each.text)).join(' ');
  const { language } = all.find((each) => each.text !== '') ?? all[0] ?? {};
  const heard = language === undefined ? {} : { language };
  if (looped) return { text, tokens: [], logprobs: new Float32Array(0), looped, ...heard };
  const isTimed = all.every(({ words }) => words !== undefined);
  const isSpelled = all.every(({ pieces }) => pieces !== undefined);
  return {
    text,
    tokens: all.flatMap(({ tokens }) => tokens),
    logprobs: Float32Array.from(all.flatMap(({ logprobs }) => [...(logprobs ?? [])])),
    looped,
    ...heard,
    ...(isSpelled && { pieces: all.flatMap(({ pieces = [] }) => pieces) }),
    ...(isTimed && { words: wordsOfStretches(read) }),
  };
}
