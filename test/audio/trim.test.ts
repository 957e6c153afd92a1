import { describe, expect, it } from 'vitest';
import { trimSilence } from '../../src/audio/trim.ts';

const RATE_HZ = 8000;

/** `ms` of a tone of 300 Hz, or of noise, at that level. */
function sound(ms: number, amplitude: number): number[] {
  return Array.from(
    { length: (ms * RATE_HZ) / 1000 },
    (_, at) => amplitude * Math.sin((2 * Math.PI * 300 * at) / RATE_HZ),
  );
}

function msOf(samples: Int16Array): number {
  return (samples.length * 1000) / RATE_HZ;
}

describe('silence around a recording', () => {
  it.each([
    ['digital silence', 0],
    ['the noise of a quiet room', 30],
    ['loud noise', 200],
  ])('is cut off to a little before and after the sound, where it is %s', (_, noise) => {
    const samples = Int16Array.from([...sound(1000, noise), ...sound(700, 8000), ...sound(2000, noise)]);
    expect(msOf(trimSilence(samples, RATE_HZ))).toBe(60 + 700 + 120);
  });

  it('stays where it is between two sounds, and a click is no sound', () => {
    const click = [20_000, -20_000, ...new Array<number>(78).fill(0)];
    const samples = Int16Array.from([
      ...click,
      ...sound(490, 0),
      ...sound(300, 8000),
      ...sound(900, 0),
      ...sound(300, 8000),
    ]);
    expect(msOf(trimSilence(samples, RATE_HZ))).toBe(60 + 300 + 900 + 300);
  });

  it('leaves a recording whole that has none, and nothing of one that has nothing else', () => {
    expect(trimSilence(Int16Array.from(sound(400, 8000)), RATE_HZ)).toHaveLength(3200);
    expect(trimSilence(new Int16Array(8000), RATE_HZ)).toHaveLength(0);
    expect(trimSilence(new Int16Array(0), RATE_HZ)).toHaveLength(0);
  });
});
