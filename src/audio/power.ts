/** How strong sound is, as a whole and at one frequency. */

/** The mean square of `samples`; 0 where there are none. */
export function meanSquare(samples: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) sum += (samples[i] as number) * (samples[i] as number);
  return samples.length === 0 ? 0 : sum / samples.length;
}

/** The energy of `samples`: the sum of their squares. */
export function energyOf(samples: Float64Array): number {
  let energy = 0;
  for (let i = 0; i < samples.length; i++) energy += (samples[i] as number) * (samples[i] as number);
  return energy;
}

/**
 * The squared magnitude of `samples` at `hz`, by Goertzel's algorithm. A tone of amplitude A there has (A · N / 2)²,
 * where its energy is A² · N / 2.
 */
export function powerAt(hz: number, samples: Int16Array, rateHz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hz) / rateHz);
  let last = 0;
  let before = 0;
  for (let i = 0; i < samples.length; i++) {
    const next = (samples[i] as number) + factor * last - before;
    before = last;
    last = next;
  }
  return last * last + before * before - factor * last * before;
}
