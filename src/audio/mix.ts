/** Joins audio, several channels or several blocks, and takes channels apart. */
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

/** Each channel of interleaved samples, which are returned as they are if there is one. */
export function splitChannels(interleaved: Int16Array, channels: number): Int16Array[] {
  if (channels === 1) return [interleaved];
  return Array.from({ length: channels }, (_, channel) => {
    const own = new Int16Array(interleaved.length / channels);
    for (let at = 0; at < own.length; at++) own[at] = interleaved[at * channels + channel] as number;
    return own;
  });
}

/** The frames of channels of one length: a sample of each, then the next. The only channel is returned as it is. */
export function interleave(channels: readonly Int16Array[]): Int16Array {
  const [first = new Int16Array(0), ...others] = channels;
  if (others.length === 0) return first;
  const samples = new Int16Array(first.length * channels.length);
  for (const [channel, own] of channels.entries())
    for (const [at, sample] of own.entries()) samples[at * channels.length + channel] = sample;
  return samples;
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
