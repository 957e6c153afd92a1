/**
 * Cuts long speech where it is quietest, so that no word is cut in two: `split_audio_into_chunks` of Qwen3-ASR
 * (qwen_asr/inference/utils.py).
 */
import { ENGINE_RATE_HZ } from '../contract.ts';
import type { SampleStretch } from './stretches.ts';

/** What counts as a pause is so long. */
const PAUSE_SAMPLES = ENGINE_RATE_HZ / 10;

/** Where to cut. */
export interface CutOptions {
  /** No more than that is not cut; every other stretch but the last ends about here. */
  readonly aimSamples: number;
  /** How far from there a pause is looked for, to both sides. */
  readonly reachSamples: number;
}

/** Stretches of `samples`, in order and without gaps; all but the last of `aimSamples`, `reachSamples` more or less. */
export function quietStretches(samples: Int16Array, { aimSamples, reachSamples }: CutOptions): SampleStretch[] {
  const stretches: SampleStretch[] = [];
  let from = 0;
  while (samples.length - from > aimSamples) {
    const aim = from + aimSamples;
    const left = Math.max(from, aim - reachSamples);
    const right = Math.min(samples.length, aim + reachSamples);
    const to = Math.max(right - left <= PAUSE_SAMPLES ? aim : quietestIn(samples, left, right), from + 1);
    stretches.push({ from, to });
    from = to;
  }
  return from < samples.length ? [...stretches, { from, to: samples.length }] : stretches;
}

/** The quietest sample of the quietest pause between two places. */
function quietestIn(samples: Int16Array, left: number, right: number): number {
  let sum = 0;
  for (let i = left; i < left + PAUSE_SAMPLES; i++) sum += Math.abs(samples[i] as number);
  let [quietest, least] = [left, sum];
  for (let from = left + 1; from + PAUSE_SAMPLES <= right; from++) {
    sum += Math.abs(samples[from + PAUSE_SAMPLES - 1] as number) - Math.abs(samples[from - 1] as number);
    if (sum < least) [quietest, least] = [from, sum];
  }
  let cut = quietest;
  for (let i = quietest; i < quietest + PAUSE_SAMPLES; i++)
    if (Math.abs(samples[i] as number) < Math.abs(samples[cut] as number)) cut = i;
  return cut;
}
