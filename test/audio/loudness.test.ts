import { describe, expect, it } from 'vitest';
import {
  applyGain,
  measureLoudness,
  measureTruePeak,
  PHONE_LOUDNESS_LUFS,
  phoneGain,
  TRUE_PEAK_MAX_DB,
} from '../../src/audio/loudness.ts';

/** A sine `levelDb` below full scale. */
function sine(hertz: number, levelDb: number, seconds: number, rateHz = 8000): Int16Array {
  const peak = 32_767 * 10 ** (levelDb / 20);
  const turn = (2 * Math.PI * hertz) / rateHz;
  return Int16Array.from({ length: seconds * rateHz }, (_, i) => Math.round(peak * Math.sin(turn * i)));
}

function joined(...parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

describe('loudness', () => {
  it.each([
    [8000, 0, -3.01],
    [8000, -20, -23.01],
    [16_000, -20, -23.01],
    [24_000, -20, -23.01],
    [48_000, -33, -36.01],
  ])('of 997 Hz at %d Hz and %d dB is %d LUFS, as BS.1770 defines it', (rateHz, levelDb, expected) => {
    expect(Math.abs(measureLoudness(sine(997, levelDb, 5, rateHz), rateHz) - expected)).toBeLessThan(0.1);
  });

  it('is weighted as the ear is: less for low tones, more for high ones', () => {
    // The gains of the recommendation's filters at these frequencies, for 48 kHz.
    for (const [hertz, gainDb] of [
      [60, -2.3],
      [200, 0],
      [2000, 3.05],
    ] as const) {
      const relative = measureLoudness(sine(hertz, -20, 5), 8000) + 23.01;
      expect(Math.abs(relative - (gainDb - 0.69))).toBeLessThan(0.6);
    }
  });

  it('does not count silence, nor what is much softer than the rest', () => {
    const speech = sine(997, -20, 4);
    const alone = measureLoudness(speech, 8000);
    expect(Math.abs(measureLoudness(joined(speech, new Int16Array(40_000)), 8000) - alone)).toBeLessThan(0.3);
    expect(Math.abs(measureLoudness(joined(speech, sine(997, -45, 8)), 8000) - alone)).toBeLessThan(0.3);
  });

  it('is -Infinity for silence, and known for a word', () => {
    expect(measureLoudness(new Int16Array(8000), 8000)).toBe(Number.NEGATIVE_INFINITY);
    expect(measureLoudness(new Int16Array(0), 8000)).toBe(Number.NEGATIVE_INFINITY);
    expect(Math.abs(measureLoudness(sine(997, -20, 0.2), 8000) + 23.01)).toBeLessThan(0.3);
  });
});

describe('the true peak', () => {
  it('lies between the samples of a tone at a quarter of the rate', () => {
    // Its samples are at 45°, 3 dB below its crest.
    const tone = Int16Array.from({ length: 8000 }, (_, i) =>
      Math.round(16_384 * Math.sin((Math.PI / 2) * i + Math.PI / 4)),
    );
    expect(Math.abs(measureTruePeak(tone, 8000) + 6.02)).toBeLessThan(0.3);
  });

  it('is -Infinity for silence', () => {
    expect(measureTruePeak(new Int16Array(800), 8000)).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('the gain of a recording', () => {
  it.each([-6, -14, -30])('brings %d dB to the loudness of the phone', (levelDb) => {
    const recording = sine(997, levelDb, 3, 16_000);
    const levelled = applyGain(recording, phoneGain(recording, 16_000));
    expect(Math.abs(measureLoudness(levelled, 16_000) - PHONE_LOUDNESS_LUFS)).toBeLessThan(0.1);
  });

  it('is less than that where a peak would come too near to full scale', () => {
    const clicks = sine(997, -50, 3);
    for (let i = 400; i < clicks.length; i += 4000) clicks[i] = 20_000;
    const levelled = applyGain(clicks, phoneGain(clicks, 8000));
    expect(measureTruePeak(levelled, 8000)).toBeLessThanOrEqual(TRUE_PEAK_MAX_DB + 0.05);
    expect(Math.max(...levelled)).toBeLessThan(32_767);
  });

  it('is bounded for what is hardly there, and 1 for silence', () => {
    expect(phoneGain(sine(997, -60, 1), 8000)).toBeCloseTo(10, 5);
    expect(phoneGain(new Int16Array(800), 8000)).toBe(1);
  });
});
