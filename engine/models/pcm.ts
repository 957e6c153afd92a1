/** 16-bit samples as the models want them. */

const FULL_SCALE = 32_768;

/** Writes `samples` into `target` from `offset` on, as floats in [-1, 1). */
export function writeFloats(samples: Int16Array, target: Float32Array, offset: number): void {
  for (let i = 0; i < samples.length; i++) target[offset + i] = (samples[i] ?? 0) / FULL_SCALE;
}
