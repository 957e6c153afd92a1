/** How well a probability holds. */

/** Something that was said to be right with a probability: how often it was, of how many. */
export interface Claim {
  readonly probability: number;
  readonly right: number;
  readonly count: number;
}

/** The claims whose probability lies in one part of the scale. */
export interface Bin {
  readonly claimed: number;
  readonly found: number;
  readonly count: number;
}

const BINS = 10;

/** The claims in ten equal parts of the scale; parts without any are left out. */
export function binsOf(claims: readonly Claim[]): Bin[] {
  const bins = Array.from({ length: BINS }, () => ({ claimed: 0, found: 0, count: 0 }));
  for (const { probability, right, count } of claims) {
    const bin = bins[Math.min(Math.floor(probability * BINS), BINS - 1)];
    if (bin === undefined) continue;
    bin.claimed += probability * count;
    bin.found += right;
    bin.count += count;
  }
  return bins
    .filter(({ count }) => count > 0)
    .map(({ claimed, found, count }) => ({ claimed: claimed / count, found: found / count, count }));
}

/** Expected calibration error: the mean distance of what was claimed from what was found (Guo et al. 2017). */
export function calibrationError(bins: readonly Bin[]): number {
  const total = bins.reduce((sum, { count }) => sum + count, 0);
  return bins.reduce((sum, { claimed, found, count }) => sum + Math.abs(claimed - found) * count, 0) / total;
}

/** An observation: the logarithm that a probability is to be made of, and how many of how many were right. */
export interface Observation {
  readonly logarithm: number;
  readonly right: number;
  readonly count: number;
}

/** The logistic curve that makes the observations the most likely, by Newton's method. */
export function fitLogistic(observations: readonly Observation[]): { offset: number; slope: number } {
  let offset = 2;
  let slope = 2;
  for (let round = 0; round < 50; round++) {
    const sums = [0, 0, 0, 0, 0];
    for (const { logarithm, right, count } of observations) {
      const share = 1 / (1 + Math.exp(-(offset + slope * logarithm)));
      const weight = count * share * (1 - share);
      const parts = [right - count * share, (right - count * share) * logarithm, weight, weight * logarithm];
      for (const [index, part] of [...parts, weight * logarithm ** 2].entries())
        sums[index] = (sums[index] ?? 0) + part;
    }
    const [g0 = 0, g1 = 0, h00 = 0, h01 = 0, h11 = 0] = sums;
    const determinant = h00 * h11 - h01 * h01;
    offset += (g0 * h11 - g1 * h01) / determinant;
    slope += (h00 * g1 - h01 * g0) / determinant;
  }
  return { offset, slope };
}
