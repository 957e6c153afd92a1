/** Joins audio: several channels, or several blocks. */
import { toSample } from './pcm.ts';

/** The mean of all channels, so that nothing clips; as long as the first channel. No channel gives no samples. */
export function mixDown(channels: readonly Int16Array[]): Int16Array {
  const [first = new Int16Array(0), ...others] = channels;
  if (others.length === 0) return first;
  const mixed = new Int16Array(first.length);
  for (let i = 0; i < mixed.length; i++) {
    let sum = first[i] as number;
    for (const channel of others) sum += channel[i] ?? 0;
    mixed[i] = toSample(sum / channels.length);
  }
  return mixed;
}

/** Concatenates blocks of samples; returns the only one that is not empty as it is. */
export function joinSamples(blocks: readonly Int16Array[]): Int16Array {
  const filled = blocks.filter((samples) => samples.length > 0);
  const [only] = filled;
  if (only === undefined || filled.length === 1) return only ?? new Int16Array(0);
  const joined = new Int16Array(filled.reduce((length, samples) => length + samples.length, 0));
  let at = 0;
  for (const samples of filled) {
    joined.set(samples, at);
    at += samples.length;
  }
  return joined;
}
