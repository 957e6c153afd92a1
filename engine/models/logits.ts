/** Reads rows of logits in place: each is some ten thousand floats, in every step. */

/** Index of the greatest of the `count` logits of one row. */
export function mostLikely(logits: Float32Array, row: number, count: number): number {
  const from = row * count;
  let best = from;
  let bestLogit = Number.NEGATIVE_INFINITY;
  for (let i = from; i < from + count; i++) {
    const logit = logits[i] ?? Number.NaN;
    if (logit > bestLogit) {
      bestLogit = logit;
      best = i;
    }
  }
  return best - from;
}

/**
 * Logits so far below the highest one make no difference to its probability: 32768 of them 0.01 %. Most are, and an
 * exponential takes longer than a comparison.
 */
const LOGITS_BELOW = 20;

/** The logarithm of the probability of one token of a row, whose likeliest token is `likeliest`. */
export function logprobOf(
  logits: Float32Array,
  at: { readonly row: number; readonly count: number; readonly likeliest: number },
  token: number,
): number {
  const from = at.row * at.count;
  const most = logits[from + at.likeliest] ?? Number.NaN;
  let sum = 0;
  for (let i = from; i < from + at.count; i++) {
    const above = (logits[i] ?? Number.NaN) - most;
    if (above > -LOGITS_BELOW) sum += Math.exp(above);
  }
  return (logits[from + token] ?? Number.NaN) - most - Math.log(sum);
}
