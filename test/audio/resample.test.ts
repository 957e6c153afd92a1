import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Resampler } from '../../src/audio/resample.ts';

const WAV_RATES = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const PAIRS = WAV_RATES.flatMap((rateHz) =>
  [8000, 16_000].flatMap((other) => [[rateHz, other] as const, [other, rateHz] as const]),
).filter(([from, to]) => from !== to);
const AMPLITUDE = 16_000;

function tone(frequencyHz: number, rateHz: number, samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, i) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * frequencyHz * i) / rateHz)),
  );
}

function joined(parts: Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

function convert(samples: Int16Array, fromHz: number, toHz: number, cuts: readonly number[] = []): Int16Array {
  const resampler = new Resampler(fromHz, toHz);
  const parts: Int16Array[] = [];
  let from = 0;
  for (const length of [...cuts, samples.length]) {
    parts.push(resampler.push(samples.subarray(from, from + length)));
    from += length;
  }
  return joined([...parts, resampler.flush()]);
}

/** The middle of a stream, where the silence before and after it is out of reach. */
function middle(samples: Int16Array): Int16Array {
  return samples.subarray(Math.floor(samples.length / 4), Math.floor((samples.length * 3) / 4));
}

function loudest(samples: Int16Array): number {
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

describe.each(PAIRS)('%i Hz → %i Hz', (fromHz, toHz) => {
  const narrowerNyquistHz = Math.min(fromHz, toHz) / 2;

  it.each([0.05, 0.4, 0.8])('carries a tone at %d of the band through, at its level and in its place', (share) => {
    const frequencyHz = share * narrowerNyquistHz;
    const output = convert(tone(frequencyHz, fromHz, fromHz / 5), fromHz, toHz);
    const ideal = tone(frequencyHz, toHz, output.length);
    const errors = output.map((sample, i) => sample - (ideal[i] ?? 0));
    expect(loudest(middle(errors))).toBeLessThan(AMPLITUDE * 0.004);
  });

  it('gives ⌈input × ratio⌉ samples, the last delayMs of them at the end', () => {
    for (const length of [0, 1, 7, 160, 1025, 3000]) {
      expect(convert(new Int16Array(length), fromHz, toHz)).toHaveLength(Math.ceil((length * toHz) / fromHz));
    }
    const resampler = new Resampler(fromHz, toHz);
    const early = resampler.push(new Int16Array(fromHz)).length;
    expect(Math.abs(toHz - early - (resampler.delayMs * toHz) / 1000)).toBeLessThanOrEqual(2);
    expect(resampler.delayMs).toBeLessThan(3.2);
  });
});

describe('what must not come through', () => {
  it.each([
    [16_000, 8000],
    [24_000, 8000],
    [48_000, 16_000],
    [44_100, 16_000],
  ])('%i Hz → %i Hz: tones above the output band are 55 dB down', (fromHz, toHz) => {
    for (const share of [1.01, 1.1, 1.5, 1.9]) {
      const frequencyHz = (share * toHz) / 2;
      if (frequencyHz >= fromHz / 2) continue;
      expect(loudest(middle(convert(tone(frequencyHz, fromHz, fromHz / 5), fromHz, toHz)))).toBeLessThan(
        AMPLITUDE * 10 ** (-55 / 20),
      );
    }
  });

  it('8 → 16 kHz leaves the samples that it was given as they are', () => {
    const speech = tone(440, 8000, 400);
    expect(convert(speech, 8000, 16_000).filter((_, i) => i % 2 === 0)).toEqual(speech);
  });
});

describe('a stream', () => {
  it('comes out the same however it is cut', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PAIRS, [12_345, 16_000] as const),
        fc.int16Array({ minLength: 0, maxLength: 2500 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 20 }),
        ([fromHz, toHz], samples, cuts) => {
          expect(convert(samples, fromHz, toHz, cuts)).toEqual(convert(samples, fromHz, toHz));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('starts anew after flush', () => {
    const resampler = new Resampler(8000, 16_000);
    const samples = tone(700, 8000, 333);
    const once = joined([resampler.push(samples), resampler.flush()]);
    expect(joined([resampler.push(samples), resampler.flush()])).toEqual(once);
  });

  it('clips instead of wrapping when a square wave overshoots', () => {
    const square = Int16Array.from({ length: 800 }, (_, i) => (i % 40 < 20 ? 32_767 : -32_768));
    const output = convert(square, 8000, 16_000);
    expect(output.every((sample, i) => i % 2 === 0 || Math.abs(sample - (square[(i - 1) / 2] ?? 0)) < 40_000)).toBe(
      true,
    );
  });

  it('is passed through at equal rates', () => {
    const samples = tone(700, 8000, 100);
    expect(convert(samples, 8000, 8000)).toEqual(samples);
  });

  it('works between rates without a common factor, by the nearest of fewer phases', () => {
    const output = convert(tone(1000, 191_999, 20_000), 191_999, 8000);
    const errors = output.map((sample, i) => sample - (tone(1000, 8000, output.length)[i] ?? 0));
    expect(loudest(middle(errors))).toBeLessThan(AMPLITUDE * 0.01);
  });
});

it.each([0, -8000, 8000.5, Number.NaN, 999, 1e9])('refuses the rate %d', (rateHz) => {
  expect(() => new Resampler(rateHz, 16_000)).toThrow(/expected a whole number of Hz/);
  expect(() => new Resampler(16_000, rateHz)).toThrow(RangeError);
});
