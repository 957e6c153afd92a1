/**
 * Loudness as people hear it, after ITU-R BS.1770-5 with the gates of EBU R 128, for the telephone: sound of any rate
 * is measured as it arrives there, at 8 kHz, so that what a caller cannot hear does not count. The two filters of the
 * recommendation are given for 48 kHz; here they are made for 8 kHz of the analogue filters behind those
 * (parameters of B. De Man, "Evaluation of Implementations of the EBU R128 Loudness
 * Measurement", AES 2018). Mono: the channel weight is 1.
 */

import { energyOf } from './power.ts';
import { Resampler } from './resample.ts';

/** Loudness of everything that callers hear, in LUFS: that of flite's voice rms, which was there first. */
export const PHONE_LOUDNESS_LUFS = -21.7;
/** No sound goes higher between its samples, in dB below full scale. */
export const TRUE_PEAK_MAX_DB = -1;

const RATE_HZ = 8000;
/** Of one block, and from one block to the next. */
const BLOCK_SAMPLES = 3200;
const STEP_SAMPLES = 800;
/** Blocks softer than this are silence; so are those that much below the mean of the others. */
const SILENCE_LUFS = -70;
const GATE_LU = 10;
/** Makes a sine of 997 Hz at full scale -3.01 LUFS. */
const OFFSET = -0.691;
const FULL_SCALE = 32_768;
/** The samples between samples are found at this multiple of the rate (BS.1770-5, annex 2). */
const OVERSAMPLING = 4;
/** Softer recordings are raised by no more than this: they are mostly noise. */
const GAIN_MAX_DB = 20;

interface Biquad {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

const SHELF = highShelf({ hertz: 1681.974450955533, gainDb: 3.999843853973347, q: 0.7071752369554196 });
const HIGH_PASS = highPass({ hertz: 38.13547087602444, q: 0.5003270373238773 });

/** Integrated loudness of mono `samples` in LUFS; -Infinity for silence. */
export function measureLoudness(samples: Int16Array, rateHz: number): number {
  const blocks = powersOfBlocks(weight(toPhoneRate(samples, rateHz)));
  const audible = blocks.filter((power) => loudnessOf(power) > SILENCE_LUFS);
  const gate = loudnessOf(mean(audible)) - GATE_LU;
  return loudnessOf(mean(audible.filter((power) => loudnessOf(power) > gate)));
}

/** The highest level between the samples of mono `samples`, in dB of full scale; -Infinity for silence. */
export function measureTruePeak(samples: Int16Array, rateHz: number): number {
  const phone = toPhoneRate(samples, rateHz);
  // At half its level nothing is cut off that lies beyond full scale between the samples.
  const resampler = new Resampler(RATE_HZ, OVERSAMPLING * RATE_HZ);
  const halved = phone.map((sample) => sample / 2);
  let highest = phone.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0) / 2;
  for (const part of [resampler.push(halved), resampler.flush()])
    for (const sample of part) highest = Math.max(highest, Math.abs(sample));
  return 20 * Math.log10((2 * highest) / FULL_SCALE);
}

/**
 * What mono `samples` are to be multiplied with to be as loud as everything else. Less where a peak would come too near
 * to full scale; 1 for silence.
 */
export function phoneGain(samples: Int16Array, rateHz: number): number {
  const loudness = measureLoudness(samples, rateHz);
  if (loudness === Number.NEGATIVE_INFINITY) return 1;
  const headroomDb = TRUE_PEAK_MAX_DB - measureTruePeak(samples, rateHz);
  return 10 ** (Math.min(PHONE_LOUDNESS_LUFS - loudness, headroomDb, GAIN_MAX_DB) / 20);
}

/** `samples` times `gain`, held within 16 bits. */
export function applyGain(samples: Int16Array, gain: number): Int16Array {
  return samples.map((sample) => Math.max(-FULL_SCALE + 1, Math.min(FULL_SCALE - 1, Math.round(sample * gain))));
}

function toPhoneRate(samples: Int16Array, rateHz: number): Int16Array {
  if (rateHz === RATE_HZ) return samples;
  const resampler = new Resampler(rateHz, RATE_HZ);
  const parts = [resampler.push(samples), resampler.flush()];
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  whole.set(parts[0] as Int16Array);
  whole.set(parts[1] as Int16Array, (parts[0] as Int16Array).length);
  return whole;
}

function weight(samples: Int16Array): Float64Array {
  return filter(
    filter(
      Float64Array.from(samples, (sample) => sample / FULL_SCALE),
      SHELF,
    ),
    HIGH_PASS,
  );
}

function filter(signal: Float64Array, { b: [b0, b1, b2], a: [a1, a2] }: Biquad): Float64Array {
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return signal.map((x) => {
    const y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    return y;
  });
}

/** Mean squares of overlapping blocks. A signal shorter than a block is one block. */
function powersOfBlocks(signal: Float64Array): number[] {
  if (signal.length < BLOCK_SAMPLES) return [energyOf(signal) / Math.max(signal.length, 1)];
  const steps = Array.from({ length: Math.floor(signal.length / STEP_SAMPLES) }, (_, i) =>
    energyOf(signal.subarray(i * STEP_SAMPLES, (i + 1) * STEP_SAMPLES)),
  );
  const stepsOfBlock = BLOCK_SAMPLES / STEP_SAMPLES;
  return steps
    .slice(stepsOfBlock - 1)
    .map((_, i) => steps.slice(i, i + stepsOfBlock).reduce((sum, energy) => sum + energy, 0) / BLOCK_SAMPLES);
}

function loudnessOf(power: number): number {
  return OFFSET + 10 * Math.log10(power);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function highShelf({ hertz, gainDb, q }: { hertz: number; gainDb: number; q: number }): Biquad {
  const k = Math.tan((Math.PI * hertz) / RATE_HZ);
  const high = 10 ** (gainDb / 20);
  const middle = high ** 0.4996667741545416;
  const a0 = 1 + k / q + k * k;
  return {
    b: [(high + (middle * k) / q + k * k) / a0, (2 * (k * k - high)) / a0, (high - (middle * k) / q + k * k) / a0],
    a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0],
  };
}

function highPass({ hertz, q }: { hertz: number; q: number }): Biquad {
  const k = Math.tan((Math.PI * hertz) / RATE_HZ);
  const a0 = 1 + k / q + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0] };
}
