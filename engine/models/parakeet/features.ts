/**
 * The features that NeMo's FastConformers listen to, as `ParakeetFeatureExtractor` of Hugging Face transformers
 * computes them (feature_extraction_parakeet.py): the logarithm of the power in bands of the mel scale, in windows of
 * 25 ms every 10 ms with silence around the speech, each band brought to a mean of 0 and a deviation of 1 over the
 * whole of it. So they change with all that comes behind, and nothing of a shorter stretch can be used again.
 */
import { complexOf } from '../fft.ts';
import { type MelBand, melBands, powerIn } from '../mel-bands.ts';
import { RealFft } from '../real-fft.ts';

/** Samples from one frame to the next: 10 ms. */
export const FRAME_SAMPLES = 160;

const WINDOW_SAMPLES = 400;
const FFT_SAMPLES = 512;
const FFT_RADICES = [4, 4, 4, 4] as const;
const PRE_EMPHASIS = 0.97;
/** Keeps the logarithm of silence finite. */
const POWER_ADDED = 2 ** -24;
/** Keeps a band that never changes from being divided by nothing. */
const DEVIATION_ADDED = 1e-5;

/** Symmetric Hann window in the middle of a transform. */
const WINDOW = Float64Array.from({ length: FFT_SAMPLES }, (_, i) => {
  const at = i - (FFT_SAMPLES - WINDOW_SAMPLES) / 2;
  return at < 0 || at >= WINDOW_SAMPLES ? 0 : 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / (WINDOW_SAMPLES - 1));
});

/** Makes features. It keeps its own buffers, so one call at a time may use it. */
export class ParakeetFeatures {
  readonly #bands: readonly MelBand[];
  readonly #fft = new RealFft(FFT_RADICES);
  readonly #bins = complexOf(FFT_SAMPLES / 2 + 1);
  readonly #power = new Float64Array(FFT_SAMPLES / 2 + 1);

  /** @param bands how many there are from 0 Hz to half the sampling rate */
  constructor(bands: number) {
    this.#bands = melBands(bands, FFT_SAMPLES);
  }

  /**
   * The features of 16 kHz samples in [-1, 1], at least 320 of them.
   * @returns [bands, frames] in one array, where there is one frame for each whole 160 samples.
   */
  compute(samples: Float32Array): Float32Array {
    const frames = Math.floor(samples.length / FRAME_SAMPLES);
    const features = new Float32Array(this.#bands.length * frames);
    const padded = emphasize(samples);
    for (let frame = 0; frame < frames; frame++) {
      this.#fft.forward(padded, frame * FRAME_SAMPLES, WINDOW, this.#bins);
      const { re, im } = this.#bins;
      for (let k = 0; k < this.#power.length; k++) {
        this.#power[k] = (re[k] as number) ** 2 + (im[k] as number) ** 2;
      }
      for (const [band, weights] of this.#bands.entries()) {
        features[band * frames + frame] = Math.log(powerIn(weights, this.#power) + POWER_ADDED);
      }
    }
    for (let from = 0; from < features.length; from += frames) normalize(features.subarray(from, from + frames));
    return features;
  }
}

/** Each sample without most of the one before it, and half a transform of silence at both ends. */
function emphasize(samples: Float32Array): Float64Array {
  const padded = new Float64Array(samples.length + FFT_SAMPLES);
  let before = 0;
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] as number;
    padded[FFT_SAMPLES / 2 + i] = sample - PRE_EMPHASIS * before;
    before = sample;
  }
  return padded;
}

/** Brings a band to a mean of 0 and a deviation of 1, in place. */
function normalize(band: Float32Array): void {
  let sum = 0;
  for (let i = 0; i < band.length; i++) sum += band[i] as number;
  const mean = sum / band.length;
  let squares = 0;
  for (let i = 0; i < band.length; i++) squares += ((band[i] as number) - mean) ** 2;
  const deviation = Math.sqrt(squares / (band.length - 1)) + DEVIATION_ADDED;
  for (let i = 0; i < band.length; i++) band[i] = ((band[i] as number) - mean) / deviation;
}
