import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { complexOf } from '../../../../engine/models/fft.ts';
import { GaussianNoise } from '../../../../engine/models/hibari/gaussian.ts';
import { HOP_SAMPLES, PulseTrain } from '../../../../engine/models/hibari/pulse-train.ts';
import { exponential, sine, writePolar } from '../../../../engine/models/hibari/tables.ts';
import { FFT_BINS, FFT_RADICES, FFT_SAMPLES, type Spectra, Vocoder } from '../../../../engine/models/hibari/vocoder.ts';
import { RealFft } from '../../../../engine/models/real-fft.ts';

const FRAMES = 40;
const ONES = new Float64Array(FFT_SAMPLES).fill(1);

/** Numbers that look random, the same each time. */
function scattered(length: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => Math.sin(i * i * 0.37) + Math.cos(i * 1.7));
}

describe('RealFft', () => {
  const fft = new RealFft(FFT_RADICES);

  it('is the discrete Fourier transform', () => {
    const samples = scattered(FFT_SAMPLES);
    const bins = complexOf(FFT_BINS);
    fft.forward(samples, 0, ONES, bins);
    for (const bin of [0, 1, 2, 7, 299, 300, 301, 599, 600]) {
      let [re, im] = [0, 0];
      for (const [n, sample] of samples.entries()) {
        re += sample * Math.cos((2 * Math.PI * n * bin) / FFT_SAMPLES);
        im -= sample * Math.sin((2 * Math.PI * n * bin) / FFT_SAMPLES);
      }
      expect(bins.re[bin]).toBeCloseTo(re, 8);
      expect(bins.im[bin]).toBeCloseTo(im, 8);
    }
  });

  it('goes back to the same samples, added to what is there', () => {
    const samples = scattered(FFT_SAMPLES);
    const bins = complexOf(FFT_BINS);
    fft.forward(samples, 0, ONES, bins);
    const sum = new Float64Array(FFT_SAMPLES + 2).fill(5);
    fft.inverse(bins, ONES, sum, 1);
    for (const [n, sample] of samples.entries()) expect(sum[n + 1]).toBeCloseTo(5 + sample, 10);
    expect([sum[0], sum[FFT_SAMPLES + 1]]).toEqual([5, 5]);
  });
});

describe('tables', () => {
  it('are sines, exponentials and points to nine digits', () => {
    fc.assert(
      fc.property(fc.double({ min: -2000, max: 2000, noNaN: true }), (x) => {
        expect(sine(x)).toBeCloseTo(Math.sin(x), 9);
        const [re, im] = [new Float32Array(1), new Float32Array(1)];
        writePolar(2, x, re, im, 0);
        expect(re[0]).toBeCloseTo(2 * Math.cos(x), 6);
        expect(im[0]).toBeCloseTo(2 * Math.sin(x), 6);
      }),
    );
    fc.assert(
      fc.property(fc.double({ min: -42, max: 40, noNaN: true }), (x) => {
        expect(exponential(x) / Math.exp(x)).toBeCloseTo(1, 9);
      }),
    );
    expect(exponential(-1000)).toBe(0);
  });
});

describe('GaussianNoise', () => {
  it('has the mean, the variance and the tails of a normal distribution', () => {
    const numbers = new Float32Array(200_000);
    new GaussianNoise(7).fill(numbers);
    const mean = (map: (x: number) => number) => numbers.reduce((sum, x) => sum + map(x), 0) / numbers.length;
    expect(mean((x) => x)).toBeCloseTo(0, 1);
    expect(Math.abs(mean((x) => x * x) - 1)).toBeLessThan(0.02);
    expect(Math.abs(mean((x) => x ** 4) - 3)).toBeLessThan(0.1);
    expect(Math.abs(mean((x) => (Math.abs(x) > 3 ? 1 : 0)) - 0.0027)).toBeLessThan(0.0006);
  });

  it('is the same for a seed, and another for another', () => {
    const draw = (seed: number) => {
      const numbers = new Float32Array(100);
      new GaussianNoise(seed).fill(numbers);
      return numbers;
    };
    expect(draw(3)).toEqual(draw(3));
    expect(draw(3)).not.toEqual(draw(4));
  });
});

describe('PulseTrain', () => {
  it('has a pulse for each period of the pitch, and none where there is no voice', () => {
    const train = new PulseTrain(Float32Array.from({ length: 80 }, (_, i) => (i < 40 ? 200 : 0)));
    const sound = new Float64Array(80 * HOP_SAMPLES);
    const voiced = Array.from({ length: 80 }, (_, frame) => train.write(frame, sound, frame * HOP_SAMPLES));
    expect(voiced.filter(Boolean).length).toBe(41);
    const pulses = sound.reduce((count, height, i) => {
      const isPulse = height > 20 && height >= (sound[i - 1] ?? 0) && height > (sound[i + 1] ?? 0);
      return isPulse ? count + 1 : count;
    }, 0);
    expect(Math.abs(pulses - 100)).toBeLessThanOrEqual(2);
    expect(sound.subarray(42 * HOP_SAMPLES).every((height) => height === 0)).toBe(true);
  });
});

describe('Vocoder', () => {
  const spectra = (): Spectra => {
    const rows = (level: number) => Float32Array.from(scattered(FFT_BINS * FRAMES), (x) => level + x / 4);
    return {
      lh: rows(-2),
      theta: rows(0),
      ln: rows(-3),
      lr: rows(-4),
      phi: rows(1),
      f0: Float32Array.from({ length: FRAMES }, (_, i) => (i % 20 < 12 ? 120 + i : 0)),
    };
  };

  it('makes the same samples in steps of whole blocks as at once', () => {
    const render = (frames: number): number[] => {
      const vocoder = new Vocoder(spectra(), new GaussianNoise(1));
      const samples: number[] = [];
      while (!vocoder.isDone) samples.push(...vocoder.next(frames));
      return samples;
    };
    const whole = render(1000);
    expect(whole).toHaveLength(FRAMES * HOP_SAMPLES);
    expect(render(16)).toEqual(whole);
    expect(render(32)).toEqual(whole);
  });

  it('leaves out what nobody can hear', () => {
    const silent = { ...spectra(), ln: new Float32Array(FFT_BINS * FRAMES).fill(-9), f0: new Float32Array(FRAMES) };
    const vocoder = new Vocoder({ ...silent, lr: silent.ln }, new GaussianNoise(1));
    expect(vocoder.next(1000).every((sample) => sample === 0)).toBe(true);
  });
});
