/**
 * The features that Whisper and its relatives listen to: the logarithm of the power in bands of the mel scale, as
 * `WhisperFeatureExtractor` of Hugging Face transformers computes it (feature_extraction_whisper.py). Windows of 25 ms
 * every 10 ms, centred on their times and mirrored at both ends.
 */
import { complexOf, planFft, runFft } from './fft.ts';
import { type MelBand, melBands, powerIn } from './mel-bands.ts';

/** Samples of one window: 25 ms. */
const WINDOW_SAMPLES = 400;
/** Samples from one frame to the next: 10 ms. */
export const MEL_HOP_SAMPLES = 160;
const REACH_SAMPLES = WINDOW_SAMPLES / 2;
/** Bins of a window's spectrum. */
const SPECTRUM_BINS = WINDOW_SAMPLES / 2 + 1;

/** Power below this counts as this. */
const POWER_MIN = 1e-10;
/** What is so much weaker than the strongest band counts as so much weaker, in powers of ten. */
const RANGE = 8;
/** Decadic logarithms are brought to about [-1, 1] by adding this and dividing by it. */
const SHIFT = 4;

/** Periodic Hann window. */
const WINDOW = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / WINDOW_SAMPLES),
);
const PLAN = planFft([5, 5, 4, 4]);

/** Makes features. It keeps its own buffers, so one call at a time may use it. */
export class LogMel {
  readonly #bands: readonly MelBand[];
  readonly #signal = complexOf(WINDOW_SAMPLES);
  readonly #spare = complexOf(WINDOW_SAMPLES);
  readonly #power = new Float64Array(SPECTRUM_BINS);
  readonly #nextPower = new Float64Array(SPECTRUM_BINS);

  /** @param bands how many there are from 0 Hz to half the sampling rate: Whisper has 80, its third version 128 */
  constructor(bands: number) {
    this.#bands = melBands(bands, WINDOW_SAMPLES);
  }

  /**
   * The features of 16 kHz samples, more than 200 of them.
   * @returns [bands, frames] in one array, where there is one frame for each whole 160 samples.
   */
  compute(samples: Float32Array): Float32Array {
    const frames = Math.floor(samples.length / MEL_HOP_SAMPLES);
    const logs = new Float32Array(this.#bands.length * frames);
    const mirrored = mirror(samples);
    const alike = framesAlike(samples);
    // Two windows of real samples go through one complex transform, as its real and its imaginary part.
    for (let frame = Math.max(alike - 1, 0); frame < frames; frame += 2) {
      this.#transform(mirrored, frame * MEL_HOP_SAMPLES);
      this.#write(this.#power, logs, frame, frames);
      if (frame + 1 < frames) this.#write(this.#nextPower, logs, frame + 1, frames);
    }
    for (let row = 0; row < logs.length; row += frames)
      logs.fill(logs[row + alike - 1] as number, row, row + alike - 1);
    return scale(logs);
  }

  /** The powers of the windows that begin at `from` and one hop later. */
  #transform(mirrored: Float64Array, from: number): void {
    const { re, im } = this.#signal;
    for (let i = 0; i < WINDOW_SAMPLES; i++) {
      const weight = WINDOW[i] as number;
      re[i] = (mirrored[from + i] as number) * weight;
      im[i] = (mirrored[from + MEL_HOP_SAMPLES + i] as number) * weight;
    }
    const { re: zr, im: zi } = runFft(PLAN, this.#signal, this.#spare);
    for (let k = 0; k < SPECTRUM_BINS; k++) {
      const j = k === 0 ? 0 : WINDOW_SAMPLES - k;
      const sumR = (zr[k] as number) + (zr[j] as number);
      const sumI = (zi[k] as number) + (zi[j] as number);
      const differenceR = (zr[k] as number) - (zr[j] as number);
      const differenceI = (zi[k] as number) - (zi[j] as number);
      this.#power[k] = (sumR * sumR + differenceI * differenceI) / 4;
      this.#nextPower[k] = (sumI * sumI + differenceR * differenceR) / 4;
    }
  }

  /** Natural logarithms of the power in each band. */
  #write(power: Float64Array, logs: Float32Array, frame: number, frames: number): void {
    for (let band = 0, at = frame; band < this.#bands.length; band++, at += frames) {
      logs[at] = Math.log(Math.max(powerIn(this.#bands[band] as MelBand, power), POWER_MIN));
    }
  }
}

/** `samples` with what a window reaches over at both ends, mirrored; one hop more at the end for a second window. */
function mirror(samples: Float32Array): Float64Array {
  const { length } = samples;
  const mirrored = new Float64Array(length + 2 * REACH_SAMPLES + MEL_HOP_SAMPLES);
  mirrored.set(samples, REACH_SAMPLES);
  for (let i = 1; i <= REACH_SAMPLES; i++) {
    mirrored[REACH_SAMPLES - i] = samples[i] as number;
    mirrored[REACH_SAMPLES + length - 1 + i] = samples[length - 1 - i] as number;
  }
  return mirrored;
}

/** How many frames at the start have the same samples as the first: speech is often padded in front. At least 1. */
function framesAlike(samples: Float32Array): number {
  const [first = 0] = samples;
  const end = samples.findIndex((sample) => sample !== first);
  const constant = end === -1 ? samples.length - REACH_SAMPLES : end;
  return Math.max(Math.floor((constant - REACH_SAMPLES) / MEL_HOP_SAMPLES) + 1, 1);
}

/** Natural logarithms to features, in place. */
function scale(logs: Float32Array): Float32Array {
  let highest = Number.NEGATIVE_INFINITY;
  for (const value of logs) highest = value > highest ? value : highest;
  const lowest = highest - RANGE * Math.LN10;
  const factor = 1 / (Math.LN10 * SHIFT);
  for (let i = 0; i < logs.length; i++) logs[i] = Math.max(logs[i] as number, lowest) * factor + 1;
  return logs;
}
