import { describe, expect, it } from 'vitest';
import { meanSquare, powerAt } from '../../src/audio/power.ts';
import { toneSamples } from '../../src/audio/tones/tone-samples.ts';

describe('meanSquare', () => {
  it('is the mean of the squares, and 0 of nothing', () => {
    expect(meanSquare(Int16Array.of(3, -4))).toBe(12.5);
    expect(meanSquare(new Int16Array(0))).toBe(0);
  });
});

describe('powerAt', () => {
  it('has all the energy of a tone at its own frequency, and next to nothing elsewhere', () => {
    const tone = toneSamples({ toneHz: 1100, durationMs: 100 }, 8000);
    const energy = meanSquare(tone) * tone.length;
    const shareAt = (hz: number): number => powerAt(hz, tone, 8000) / ((energy * tone.length) / 2);
    expect(shareAt(1100)).toBeCloseTo(1, 3);
    expect(shareAt(2100)).toBeLessThan(0.001);
  });
});
