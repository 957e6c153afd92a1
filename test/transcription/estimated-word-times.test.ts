import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateWordTimes } from '../../src/transcription/estimated-word-times.ts';
import type { SpeechClip } from '../../src/transcription/speech-clips.ts';

const RATE_HZ = 16_000;
const at = (timeMs: number) => (timeMs * RATE_HZ) / 1000;

/** A clip from `fromMs` on in which the given stretches (ms) are spoken at an even level. */
function clip(fromMs: number, speech: readonly (readonly [number, number])[]): SpeechClip {
  const toMs = (speech.at(-1)?.[1] ?? fromMs) + 100;
  const samples = new Int16Array(at(toMs - fromMs));
  for (const [start, end] of speech) samples.fill(1000, at(start - fromMs), at(end - fromMs));
  return {
    from: at(fromMs),
    to: at(toMs),
    samples,
    speech: speech.map(([start, end]) => ({ from: at(start), to: at(end) })),
  };
}

const texts = fc
  .array(fc.constantFrom('a', 'telephone', 'the', 'number,', 'fünf', '电话', 'line.', '…'), { maxLength: 12 })
  .map((words) => words.join(' '));

describe('estimateWordTimes', () => {
  it('gives every word a time of its own, in order, inside of the speech', () => {
    const speech = fc.array(fc.integer({ min: 40, max: 900 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(texts, speech, (text, lengths) => {
        let nowMs = 1000;
        const spans = lengths.map((lengthMs) => {
          const span = [nowMs, nowMs + lengthMs] as const;
          nowMs += lengthMs + 300;
          return span;
        });
        const words = estimateWordTimes(text, clip(900, spans));
        expect(
          words
            .map((word) => word.text)
            .join('')
            .replaceAll(' ', ''),
        ).toBe(words.length === 0 ? '' : text.replaceAll(' ', ''));
        let endMs = 1000;
        for (const word of words) {
          expect(word.startMs).toBeGreaterThanOrEqual(endMs);
          expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
          endMs = word.endMs;
        }
        if (words.length > 0) expect(endMs).toBe(spans.at(-1)?.[1]);
      }),
    );
  });

  it('gives longer words more time', () => {
    const [first, second] = estimateWordTimes('a telephone', clip(0, [[100, 1100]]));
    expect(first?.startMs).toBe(100);
    expect((second?.endMs ?? 0) - (second?.startMs ?? 0)).toBeGreaterThan(
      3 * ((first?.endMs ?? 0) - (first?.startMs ?? 0)),
    );
  });

  it('puts the boundary between two words into a pause that is near', () => {
    const words = estimateWordTimes(
      'hello caller',
      clip(0, [
        [100, 600],
        [1000, 1600],
      ]),
    );
    expect(words).toMatchObject([
      { text: 'hello', startMs: 100, endMs: 600 },
      { text: 'caller', startMs: 1000, endMs: 1600 },
    ]);
  });

  it('splits what is written without spaces by character', () => {
    expect(estimateWordTimes('你好吗', clip(0, [[0, 900]])).map(({ text, spaced }) => ({ text, spaced }))).toEqual([
      { text: '你', spaced: false },
      { text: '好', spaced: false },
      { text: '吗', spaced: false },
    ]);
  });
});
