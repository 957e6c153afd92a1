/** Readings of stretches of one speech as one reading. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../contract.ts';
import type { Recognition } from './model.ts';

/** The reading of one stretch. */
export interface StretchReading {
  /** The sample that it begins with. */
  readonly from: number;
  readonly recognition: Recognition;
}

/** A loop in one of them is one in the whole. The language is that of the first one that has text. */
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
    ...(isTimed && { words: read.flatMap(wordsIn) }),
  };
}

function wordsIn({ from, recognition: { words = [] } }: StretchReading): SpokenWord[] {
  const ms = Math.round((1000 * from) / ENGINE_RATE_HZ);
  return words.map((word) => ({ ...word, startMs: word.startMs + ms, endMs: word.endMs + ms }));
}
