/**
 * When each token was said. Two heads of the decoder's cross-attention attend to the place in the speech where the next
 * token is. The best path through their attention that never goes back gives the time of each token. See
 * docs/internals/graphs.md.
 */
import { HEAD_SIZE, HEADS, HIDDEN_SIZE } from '../graph/moonshine-shape.ts';

/**
 * The heads that follow the speech, and how many frames before (or, below 0, after) the beginning of a token each of
 * them attends.
 */
const ALIGNING_HEADS = [
  { head: 0, aheadFrames: 2 },
  { head: 6, aheadFrames: -1 },
] as const;

/** Lower bound of a frame's share of attention: a token may lie where its heads hardly attend. */
const SHARE_FLOOR = 1e-4;

/** How many frames around the frame found refine its position to a fraction of a frame. */
const NEIGHBOURS = 2;

/** Queries [1, tokens, heads × head size] and keys [1, heads, frames, head size] of the aligning layer, both scaled. */
export interface Attention {
  readonly queries: Float32Array;
  readonly keys: Float32Array;
}

/** For each query the frame, in fractions, in which its token begins; never falling. Empty without queries. */
export function alignTokens({ queries, keys }: Attention): number[] {
  const tokens = queries.length / HIDDEN_SIZE;
  const frames = keys.length / HIDDEN_SIZE;
  const shares = Array.from({ length: tokens }, (_, token) => sharesOf({ queries, keys }, token, frames));
  const found = risingPath(shares.map(toLogarithms), frames).map((frame, token) =>
    centreNear(shares[token] ?? new Float64Array(0), frame),
  );
  return found.map((_, token) => Math.max(...found.slice(0, token + 1)));
}

/**
 * How much each frame is looked at for one token, all heads taken together and each moved to where the token begins.
 */
function sharesOf({ queries, keys }: Attention, token: number, frames: number): Float64Array {
  const shares = new Float64Array(frames);
  for (const { head, aheadFrames } of ALIGNING_HEADS) {
    const query = queries.subarray(
      token * HIDDEN_SIZE + head * HEAD_SIZE,
      token * HIDDEN_SIZE + (head + 1) * HEAD_SIZE,
    );
    const weights = softmax(
      dotProducts(query, keys.subarray((head * keys.length) / HEADS, ((head + 1) * keys.length) / HEADS)),
    );
    for (let frame = 0; frame < frames; frame++) {
      shares[frame] = (shares[frame] ?? 0) + (weights[frame - aheadFrames] ?? 0) / ALIGNING_HEADS.length;
    }
  }
  return shares;
}

/** The products of `query` with each row of `keys`. */
function dotProducts(query: Float32Array, keys: Float32Array): Float64Array {
  return Float64Array.from({ length: keys.length / HEAD_SIZE }, (_, row) => {
    let sum = 0;
    for (let i = 0; i < HEAD_SIZE; i++) sum += (query[i] ?? 0) * (keys[row * HEAD_SIZE + i] ?? 0);
    return sum;
  });
}

function softmax(scores: Float64Array): Float64Array {
  const highest = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  const powers = scores.map((score) => Math.exp(score - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function toLogarithms(shares: Float64Array): Float64Array {
  return shares.map((share) => Math.log(share + SHARE_FLOOR));
}

/**
 * One frame for each row of scores, never before that of the row before it, so that their scores sum up to the most.
 */
export function risingPath(rows: readonly Float64Array[], frames: number): number[] {
  /**
   * For each token and frame, the frame of the token before on the best path that has this token at or before this
   * frame.
   */
  const from: Int32Array[] = [];
  let best = new Float64Array(frames);
  for (const row of rows) {
    const origins = risingMaxima(best);
    best = Float64Array.from(row, (score, frame) => score + (best[origins[frame] ?? 0] ?? 0));
    from.push(origins);
  }
  const path: number[] = [];
  let frame = risingMaxima(best).at(-1) ?? 0;
  for (const origins of from.toReversed()) {
    path.unshift(frame);
    frame = origins[frame] ?? 0;
  }
  return path;
}

/** For each place, where the greatest value up to and with it lies; the first of equals. */
function risingMaxima(values: Float64Array): Int32Array {
  let highest = 0;
  return Int32Array.from(values, (value, index) => {
    if (value > (values[highest] ?? 0)) highest = index;
    return highest;
  });
}

function centreNear(shares: Float64Array, frame: number): number {
  let sum = 0;
  let moment = 0;
  for (let at = Math.max(frame - NEIGHBOURS, 0); at <= Math.min(frame + NEIGHBOURS, shares.length - 1); at++) {
    const share = (shares[at] ?? 0) + SHARE_FLOOR;
    sum += share;
    moment += at * share;
  }
  return sum === 0 ? frame : moment / sum;
}
