import { describe, expect, it } from 'vitest';
import { DTMF_DIGITS, digitTone } from '../../src/audio/dtmf.ts';

const RATE_HZ = 8000;
const TONES_HZ = [697, 770, 852, 941, 1209, 1336, 1477, 1633];
const PAIRS: Readonly<Record<string, readonly [number, number]>> = {
  '1': [697, 1209],
  '5': [770, 1336],
  '9': [852, 1477],
  '0': [941, 1336],
  '*': [941, 1209],
  '#': [941, 1477],
  A: [697, 1633],
  D: [941, 1633],
};

/** Power of one frequency (Goertzel). */
function power(samples: Int16Array, hz: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * hz) / RATE_HZ);
  let [last, before] = [0, 0];
  for (const sample of samples) [last, before] = [sample + turn * last - before, last];
  return last * last + before * before - turn * last * before;
}

describe('the tone of a digit', () => {
  it.each(Object.entries(PAIRS))('%s is its two frequencies and no others', (digit, pair) => {
    const tone = digitTone(digit, RATE_HZ).subarray(0, 800);
    const loudest = TONES_HZ.map((hz) => ({ hz, power: power(tone, hz) })).sort((a, b) => b.power - a.power);
    expect(loudest.slice(0, 2).map(({ hz }) => hz)).toEqual(expect.arrayContaining([...pair]));
    expect((loudest[1]?.power ?? 0) / (loudest[2]?.power ?? 1)).toBeGreaterThan(20);
  });

  it('is 100 ms long, with as long a pause behind it, and stays clear of full scale', () => {
    const tone = digitTone('7', RATE_HZ);
    expect(tone).toHaveLength(1600);
    expect(tone.subarray(800).every((sample) => sample === 0)).toBe(true);
    expect(Math.max(...tone)).toBeLessThan(16_384);
    expect(Math.abs(tone[0] ?? 0)).toBeLessThan(500);
  });

  it('waits half a second for w', () => {
    const wait = digitTone('w', RATE_HZ);
    expect(wait).toHaveLength(4000);
    expect(wait.every((sample) => sample === 0)).toBe(true);
  });

  it('is refused for anything else', () => {
    for (const digit of ['E', 'a', '', '12', ' ']) {
      expect(DTMF_DIGITS.test(digit)).toBe(false);
      expect(() => digitTone(digit, RATE_HZ)).toThrow(RangeError);
    }
  });
});
