import { describe, expect, it } from 'vitest';
import type { SpokenWord } from '../../engine/contract.ts';
import { alignWordTimes } from '../../src/transcription/aligned-word-times.ts';
import type { SpeechClip } from '../../src/transcription/speech-clips.ts';

const RATE_HZ = 16_000;
const at = (timeMs: number) => (timeMs * RATE_HZ) / 1000;

/** A clip that begins 100 ms before the first of the given stretches of speech (ms) and ends with the last. */
function clip(...speech: readonly (readonly [number, number])[]): SpeechClip {
  const from = at((speech[0]?.[0] ?? 0) - 100);
  const to = at(speech.at(-1)?.[1] ?? 0);
  return {
    from,
    to,
    samples: new Int16Array(to - from),
    speech: speech.map(([start, end]) => ({ from: at(start), to: at(end) })),
  };
}

/** Words as the recogniser gives them: each ends where the next begins, in ms of the clip. */
function spoken(words: Readonly<Record<string, number>>, endMs: number): SpokenWord[] {
  const starts = Object.entries(words);
  return starts.map(([text, startMs], index) => ({ text, startMs, endMs: starts[index + 1]?.[1] ?? endMs }));
}

const timesOf = (words: readonly { startMs: number; endMs: number }[] | null) =>
  words?.map(({ startMs, endMs }) => [startMs, endMs]);

describe('alignWordTimes', () => {
  it('counts from the start of the recording', () => {
    const words = alignWordTimes('Please hold.', spoken({ Please: 120, 'hold.': 500 }, 900), clip([1000, 2000]));
    expect(words).toEqual([
      { text: 'Please', spaced: true, startMs: 1020, endMs: 1400 },
      { text: 'hold.', spaced: true, startMs: 1400, endMs: 1800 },
    ]);
  });

  it('lets a word end where a pause begins, and begin where it ends', () => {
    const words = alignWordTimes('one two', spoken({ one: 100, two: 850 }, 1500), clip([1000, 1400], [1800, 2400]));
    expect(timesOf(words)).toEqual([
      [1000, 1400],
      [1800, 2400],
    ]);
  });

  it('leaves no word outside of the speech', () => {
    const words = alignWordTimes('one two', spoken({ one: 60, two: 500 }, 5000), clip([1000, 2000]));
    expect(timesOf(words)).toEqual([
      [1000, 1400],
      [1400, 2000],
    ]);
  });

  it('knows words of which the first were left out of the text', () => {
    const words = alignWordTimes('two three', spoken({ one: 100, two: 300, three: 600 }, 900), clip([1000, 2000]));
    expect(timesOf(words)).toEqual([
      [1200, 1500],
      [1500, 1800],
    ]);
  });

  it('knows words whose punctuation was cleaned', () => {
    const words = alignWordTimes('However, due.', spoken({ 'However,,': 100, 'due,.': 500 }, 900), clip([1000, 2000]));
    expect(words?.map(({ text, startMs }) => [text, startMs])).toEqual([
      ['However,', 1000],
      ['due.', 1400],
    ]);
  });

  it('gives punctuation that stands alone to the word before it', () => {
    const words = alignWordTimes(
      'Wait - what?',
      spoken({ Wait: 100, '-': 400, 'what?': 500 }, 900),
      clip([1000, 2000]),
    );
    expect(words?.map(({ text, startMs }) => [text, startMs])).toEqual([
      ['Wait -', 1000],
      ['what?', 1400],
    ]);
  });

  it.each([
    ['the text says something else', 'four five', { one: 100, two: 300 }],
    ['a word lies far outside of the speech', 'one two', { one: 100, two: 1900 }],
    ['the recogniser has lost its place', 'one two three four', { one: 100, two: 101, three: 102, four: 103 }],
    ['nothing was heard', 'one', {}],
  ])('refuses times when %s', (_, text, words) => {
    expect(alignWordTimes(text, spoken(words, 2000), clip([1000, 2000]))).toBeNull();
  });
});
