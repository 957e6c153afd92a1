import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeClipWords } from '../../src/transcription/clip-word-times.ts';

const MS = 16;

/** A clip of two stretches: 1000 to 2000 ms and 4000 to 5500 ms of the recording, with speech up to 100 ms off both. */
const CLIP = {
  parts: [
    { from: 1000 * MS, to: 2000 * MS },
    { from: 4000 * MS, to: 5500 * MS },
  ],
  spliced: {
    from: 0,
    to: 2500 * MS,
    samples: new Int16Array(2500 * MS).fill(1000),
    speech: [
      { from: 100 * MS, to: 900 * MS },
      { from: 1100 * MS, to: 2400 * MS },
    ],
  },
};

describe('words of a clip', () => {
  it('have their times in the recording, the pauses between its stretches counted', () => {
    const spoken = [
      { text: 'My', startMs: 120, endMs: 400 },
      { text: 'number', startMs: 400, endMs: 1100 },
      { text: 'is', startMs: 1110, endMs: 1500 },
      { text: 'seven.', startMs: 1500, endMs: 2390 },
    ];
    const { words, wordTimes } = timeClipWords('My number is seven.', spoken, CLIP);
    expect(wordTimes).toBe('aligned');
    expect(words.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
      [1120, 1400],
      [1400, 1900],
      [4110, 4500],
      [4500, 5390],
    ]);
  });

  it('have estimated ones where the recogniser has none, in the stretches', () => {
    const { words, wordTimes } = timeClipWords('My number is seven.', undefined, CLIP);
    expect(wordTimes).toBe('estimated');
    expect([words[0]?.startMs, words.at(-1)?.endMs]).toEqual([1100, 5400]);
  });

  it('are in order, without overlap and never in what was left out', () => {
    const inClip = fc.integer({ min: 0, max: 2500 });
    fc.assert(
      fc.property(fc.array(inClip, { minLength: 2, maxLength: 12 }), (times) => {
        const bounds = times.toSorted((a, b) => a - b);
        const spoken = bounds
          .slice(1)
          .map((endMs, index) => ({ text: `w${index}`, startMs: bounds[index] ?? 0, endMs }));
        const { words } = timeClipWords(spoken.map(({ text }) => text).join(' '), spoken, CLIP);
        let before = 0;
        for (const { startMs, endMs } of words) {
          expect(startMs).toBeGreaterThanOrEqual(before);
          expect(endMs).toBeGreaterThanOrEqual(startMs);
          for (const at of [startMs, endMs]) expect(at > 2000 && at < 4000, `${at}`).toBe(false);
          before = endMs;
        }
      }),
    );
  });
});
