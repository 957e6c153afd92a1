/** Bands of the mel scale, with scale and areas as in M. Slaney, "Auditory Toolbox" (1998). */
import { ENGINE_RATE_HZ } from '../contract.ts';

/** The mel scale is linear up to this, and logarithmic from there on. */
const LINEAR_TO_HZ = 1000;
const LINEAR_HZ_PER_MEL = 200 / 3;
const LINEAR_TO_MEL = LINEAR_TO_HZ / LINEAR_HZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

/** One band: its weights for the bins of the spectrum from `from` on. */
export interface MelBand {
  readonly from: number;
  readonly weights: Float64Array;
}

/** The power of a spectrum in a band. */
export function powerIn({ from, weights }: MelBand, power: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += (weights[i] as number) * (power[from + i] as number);
  return sum;
}

/**
 * Triangles whose corners are equally far apart on the mel scale, each with an area of 1.
 * @param count bands from 0 Hz to half the sampling rate
 * @param windowSamples samples of the windows whose spectra they are for
 */
export function melBands(count: number, windowSamples: number): MelBand[] {
  const highestMel = toMel(ENGINE_RATE_HZ / 2);
  const corners = Array.from({ length: count + 2 }, (_, i) => toHz((highestMel * i) / (count + 1)));
  return Array.from({ length: count }, (_, band) => {
    const [lowHz = 0, middleHz = 0, highHz = 0] = corners.slice(band, band + 3);
    const all = Array.from({ length: windowSamples / 2 + 1 }, (_, bin) => {
      const hz = (bin * ENGINE_RATE_HZ) / windowSamples;
      const height = Math.min((hz - lowHz) / (middleHz - lowHz), (highHz - hz) / (highHz - middleHz));
      return (Math.max(height, 0) * 2) / (highHz - lowHz);
    });
    const from = Math.max(
      all.findIndex((weight) => weight > 0),
      0,
    );
    return { from, weights: Float64Array.from(all.slice(from, all.findLastIndex((weight) => weight > 0) + 1)) };
  });
}

function toMel(hz: number): number {
  return hz < LINEAR_TO_HZ ? hz / LINEAR_HZ_PER_MEL : LINEAR_TO_MEL + Math.log(hz / LINEAR_TO_HZ) / LOG_STEP;
}

function toHz(mel: number): number {
  return mel < LINEAR_TO_MEL ? mel * LINEAR_HZ_PER_MEL : LINEAR_TO_HZ * Math.exp(LOG_STEP * (mel - LINEAR_TO_MEL));
}
