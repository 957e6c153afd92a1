/** The beeps of answering machines, made by arithmetic, beside what else a line carries. */
import { describe, expect, it } from 'vitest';
import { Resampler } from '../../../src/audio/resample.ts';
import { type Beep, BeepDetector } from '../../../src/audio/tones/beeps.ts';
import { toneSamples } from '../../../src/audio/tones/tone-samples.ts';
import { gaussian, LINE_RATE_HZ, nonSpeechSignals, pinkNoise, tones } from '../../helpers/signals.ts';

/** What is found, and at which ms. */
function find(samples: Int16Array, rateHz = LINE_RATE_HZ): (Beep & { foundMs: number })[] {
  const detector = new BeepDetector(rateHz);
  const found: (Beep & { foundMs: number })[] = [];
  const chunk = rateHz / 50;
  for (let at = 0; at < samples.length; at += chunk) {
    const beep = detector.push(samples.subarray(at, at + chunk));
    if (beep !== null) found.push({ ...beep, foundMs: ((at + chunk) * 1000) / rateHz });
  }
  return found;
}

/** A second of a line, a beep, and a second of the line. */
function beeped(toneHz: number, durationMs: number, noiseRms = 0.001): Int16Array {
  const line = pinkNoise(5, noiseRms, gaussian(8));
  const beep = toneSamples({ toneHz, durationMs }, LINE_RATE_HZ);
  return line.map((sample, at) => sample + (beep[at - LINE_RATE_HZ] ?? 0));
}

describe('a beep', () => {
  it.each([
    [440, 150],
    [620, 200],
    [850, 350],
    [1000, 1000],
    [1400, 500],
    [2000, 240],
    [2500, 2000],
  ])('of %i Hz and %i ms is known a quarter of a second after its end', (toneHz, durationMs) => {
    const [beep, ...others] = find(beeped(toneHz, durationMs));
    expect(others).toEqual([]);
    expect(Math.abs((beep?.pitchHz ?? 0) - toneHz)).toBeLessThan(10);
    const end = 1000 + durationMs;
    expect(Math.abs((beep?.endMs ?? 0) - end)).toBeLessThan(40);
    expect((beep?.foundMs ?? 0) - end).toBeGreaterThan(150);
    expect((beep?.foundMs ?? 0) - end).toBeLessThan(280);
  });

  it('is known on a line that is as silent as one can be, where its end is pure to the last sample', () => {
    expect(find(beeped(700, 400, 0))).toHaveLength(1);
  });

  it('is known on a noisy line, and at 16 kHz', () => {
    expect(find(beeped(1000, 400, 0.01))).toHaveLength(1);
    const resampler = new Resampler(LINE_RATE_HZ, 16_000);
    expect(find(resampler.push(beeped(1000, 400)), 16_000)).toMatchObject([{ pitchHz: 1000 }]);
  });

  it('is none where it has no end, is a click, or a sound goes on behind it', () => {
    expect(find(beeped(1000, 3500))).toEqual([]);
    expect(find(beeped(1000, 80))).toEqual([]);
    const music = nonSpeechSignals(5)['hold music (chords)'] as Int16Array;
    expect(
      find(beeped(1000, 400).map((sample, at) => sample + (at > 1.4 * LINE_RATE_HZ ? (music[at] ?? 0) : 0))),
    ).toEqual([]);
  });

  it('is none where it glides as a voice does', () => {
    const glide = Int16Array.from({ length: LINE_RATE_HZ }, (_, i) => {
      const s = i / LINE_RATE_HZ;
      return s > 0.5 ? 0 : Math.round(6000 * Math.sin(2 * Math.PI * (500 * s + 400 * s * s)));
    });
    expect(find(glide)).toEqual([]);
  });

  it.each([
    'line noise −50 dB',
    'white noise −20 dB',
    'busy tone',
    'dial tone',
    'ringback, North America',
    'ringback, United Kingdom',
    'DTMF digits',
    'hold music (chords)',
  ])('is none in %s', (name) => {
    expect(find(nonSpeechSignals(20)[name] as Int16Array)).toEqual([]);
  });

  it('is none where it is how the rest of the world rings', () => {
    expect(find(tones(12, [425], 0.2, { onMs: 1000, offMs: 4000 }))).toEqual([]);
  });

  it('is each of those that come again', () => {
    expect(find(tones(6, [1000], 0.2, { onMs: 300, offMs: 1700 }))).toHaveLength(3);
  });
});
