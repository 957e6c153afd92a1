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
