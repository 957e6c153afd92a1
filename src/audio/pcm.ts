/** Linear 16-bit samples: rounding, and conversion to and from little-endian bytes. */

/** The nearest 16-bit sample; a value out of range is clipped. `value` must not be NaN. */
export function toSample(value: number): number {
  if (value >= 32767) return 32767;
  if (value <= -32768) return -32768;
  // Truncation of a positive number is a floor, and much cheaper than Math.round.
  return ((value + 32768.5) | 0) - 32768;
}

/** Samples → little-endian bytes. */
export function samplesToPcm16(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] as number;
    bytes[2 * i] = sample;
    bytes[2 * i + 1] = sample >> 8;
  }
  return bytes;
}

/** Little-endian bytes → samples; an odd byte at the end is ignored. */
export function pcm16ToSamples(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = (bytes[2 * i] as number) | ((bytes[2 * i + 1] as number) << 8);
  return samples;
}
