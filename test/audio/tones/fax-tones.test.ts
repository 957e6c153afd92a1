/** The tones of fax machines, made by arithmetic, beside what else a line carries. */
import { describe, expect, it } from 'vitest';
import { decodeG711, encodeG711 } from '../../../src/audio/g711.ts';
import { Resampler } from '../../../src/audio/resample.ts';
import { type FaxTone, FaxToneDetector } from '../../../src/audio/tones/fax-tones.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import { faxAnswer, faxCall, faxFlags } from '../../helpers/fax-signals.ts';
import { gaussian, LINE_RATE_HZ, nonSpeechSignals, pinkNoise, tones } from '../../helpers/signals.ts';

const CHUNK = 160;

/** What is found, and at which ms. */
function find(samples: Int16Array, callingTones: 1 | 2 = 1, rateHz = LINE_RATE_HZ): { tone: FaxTone; atMs: number }[] {
  const detector = new FaxToneDetector({ rateHz, callingTones });
  const found: { tone: FaxTone; atMs: number }[] = [];
  for (let at = 0; at < samples.length; at += CHUNK) {
    const tone = detector.push(samples.subarray(at, at + CHUNK));
    if (tone !== null) found.push({ tone, atMs: ((at + CHUNK) * 1000) / rateHz });
  }
  return found;
}

const onLine = (samples: Int16Array, noiseRms: number): Int16Array => {
  const noise = pinkNoise(Math.ceil(samples.length / LINE_RATE_HZ), noiseRms, gaussian(4));
  const noisy = samples.map((sample, at) => sample + (noise[at] ?? 0));
  return decodeG711(encodeG711(noisy, MULAW_8K), MULAW_8K);
};

describe('the tone of a fax machine that calls', () => {
  it.each([1062, 1100, 1138])('of %i Hz is known when it is over', (toneHz) => {
    const [found] = find(onLine(faxCall(1, toneHz), 0.004));
    expect(found?.tone).toBe('cng');
    expect(found?.atMs).toBeGreaterThanOrEqual(500);
    expect(found?.atMs).toBeLessThan(600);
  });

  it('must come twice where a beep could be meant', () => {
    expect(find(faxCall(1), 2)).toEqual([]);
    expect(find(faxCall(2), 2)).toMatchObject([{ tone: 'cng' }]);
  });

  it.each([
    ['another pitch', tones(1, [1000], 0.2)],
    ['another length', tones(2, [1100], 0.2, { onMs: 300, offMs: 1000 })],
    ['no end', tones(4, [1100], 0.2)],
    ['a second tone beside it', tones(2, [1100, 1477], 0.2, { onMs: 500, offMs: 1000 })],
    ['next to no level', tones(2, [1100], 0.004, { onMs: 500, offMs: 1000 })],
  ])('is none with %s', (_, samples) => {
    expect(find(samples)).toEqual([]);
  });
});

describe('the tone of a fax machine that answers', () => {
  it.each([
    ['as it is', false],
    ['with its phase reversed every 450 ms', true],
  ])('is known after a second, %s', (_, reversals) => {
    const [found] = find(onLine(faxAnswer({ ced: true, reversals }), 0.01));
    expect(found?.tone).toBe('ced');
    expect(found?.atMs).toBeLessThan(1300);
  });

  it('is none where it is as short as a beep', () => {
    expect(find(tones(2, [2100], 0.2, { onMs: 800, offMs: 1200 }))).toEqual([]);
  });
});

describe('the preamble of a fax machine', () => {
  it('is known within half a second', () => {
    const [found] = find(onLine(faxFlags(1000), 0.01));
    expect(found?.tone).toBe('v21');
    expect(found?.atMs).toBeLessThan(500);
  });

  it('is known at 16 kHz', () => {
    const resampler = new Resampler(LINE_RATE_HZ, 16_000);
    expect(find(resampler.push(faxFlags(1000)), 1, 16_000)[0]?.tone).toBe('v21');
  });

  it('is none without its flags', () => {
    expect(find(tones(3, [1650], 0.2))).toEqual([]);
    expect(find(tones(3, [1650, 1850], 0.2))).toEqual([]);
  });
});

describe('what else a line carries', () => {
  const { 'fax calling tone': _fax, ...signals } = nonSpeechSignals(20);
  it.each(Object.entries(signals))('%s is no fax machine', (_, samples) => {
    expect(find(samples)).toEqual([]);
  });
});
