/** Speech that is longer than a recogniser's positions reach, in stretches that it can take. */

/** Samples `from` (inclusive) to `to` (exclusive). */
export interface SampleStretch {
  readonly from: number;
  readonly to: number;
}

/**
 * About equally long stretches of `length` samples, none longer than `maxSamples`, all but the last a whole number of
 * `frameSamples`. None where there are no samples.
 */
export function stretchesOf(
  length: number,
  { maxSamples, frameSamples }: { readonly maxSamples: number; readonly frameSamples: number },
): SampleStretch[] {
  const longest = maxSamples - (maxSamples % frameSamples);
  const count = Math.ceil(length / longest);
  const cut = (index: number) => Math.ceil((length * index) / count / frameSamples) * frameSamples;
  return Array.from({ length: count }, (_, index) => ({
    from: cut(index),
    to: index + 1 === count ? length : cut(index + 1),
  }));
}
