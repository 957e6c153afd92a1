import { describe, expect, it } from 'vitest';
import { LISTEN_ENDPOINT_MS } from './listen-endpoints.ts';
import { figuresOf, type HeardSession, noiseOf } from './listen-judge.ts';

const words = (text: string): string[] => text.split(' ');

describe('the figures of sessions', () => {
  it('count the words of each voice for itself', () => {
    const finals = [
      { voice: 0, text: 'One two.', endMs: 0, arrivedMs: LISTEN_ENDPOINT_MS },
      { voice: 1, text: 'Three.', endMs: 0, arrivedMs: LISTEN_ENDPOINT_MS },
    ];
    const heard = (voices: string[]): HeardSession => ({ words: voices.map(words), finals, ends: [] });
    expect(figuresOf([heard(['one two', 'three'])])).toMatchObject({ finals: 2, werPercent: 0, p50Ms: 0 });
    // Four edits for three words.
    expect(figuresOf([heard(['three', 'one two'])]).werPercent).toBeCloseTo(400 / 3);
  });

  it('take the end of speech from the same words of the calls beside them, however late a final is', () => {
    const ends = [
      { endMs: 1000, words: words('press one') },
      { endMs: 3000, words: words('thank you') },
      { endMs: 5000, words: words('press one') },
    ];
    const lateOf = (text: string, arrivedMs: number): number =>
      figuresOf([{ words: [[]], finals: [{ voice: 0, text, endMs: null, arrivedMs }], ends }]).p50Ms;
    expect(lateOf('Press one.', 1000 + LISTEN_ENDPOINT_MS + 20)).toBe(20);
    expect(lateOf('Thank you.', 3000 + LISTEN_ENDPOINT_MS + 2500)).toBe(2500);
    expect(lateOf('Press one.', 5000 + LISTEN_ENDPOINT_MS + 7)).toBe(7);
  });
});

describe('noise', () => {
  it('is how far figures lie apart, and never nothing', () => {
    const figures = { finals: 1, werPercent: 4, p50Ms: 20, p95Ms: 40 };
    const other = { ...figures, werPercent: 5, p95Ms: 140 };
    expect(noiseOf([figures, other])).toEqual({ werPercent: 1, p50Ms: 20, p95Ms: 100 });
    expect(noiseOf([figures]).werPercent).toBeGreaterThan(0);
  });
});
