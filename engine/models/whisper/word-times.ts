/**
 * When each token was said: the path through the attention of the heads that follow the speech along which they attend
 * the most. As OpenAI's Whisper finds it (whisper/timing.py).
 */
import type { SpeechAttention } from './decoder.ts';

/** Frames to each side that a median smooths over: one frame alone is an accident. */
const MEDIAN_REACH = 3;

/**
 * The frame that the token behind each row begins in, from row `first` to the last but one; never falling.
 * @param frames those with speech, at least 1: what is behind them is silence of the window
 */
export function alignRows(attention: SpeechAttention, first: number, frames: number): number[] {
  const rows = attention.tokens - 1 - first;
  const scores = Array.from({ length: rows }, () => new Float64Array(frames));
  const heads = attention.shares.length / (attention.tokens * attention.frames);
  for (let head = 0; head < heads; head++) {
    const shares = standardised(attention, head, frames);
    for (const [row, target] of scores.entries()) {
      const smooth = smoothed(shares[first + row] ?? new Float64Array(frames));
      for (let frame = 0; frame < frames; frame++) target[frame] = (target[frame] ?? 0) + (smooth[frame] ?? 0) / heads;
    }
  }
  return warp(scores, frames);
}

/** How far each token's share of a frame stands out among those of all tokens. [tokens][frames] */
function standardised(
  { shares, tokens, frames: stride }: SpeechAttention,
  head: number,
  frames: number,
): Float64Array[] {
  const from = head * tokens * stride;
  const rows = Array.from({ length: tokens }, () => new Float64Array(frames));
  for (let frame = 0; frame < frames; frame++) {
    let [sum, squares] = [0, 0];
    for (let at = from + frame, row = 0; row < tokens; row++, at += stride) sum += shares[at] ?? 0;
    const mean = sum / tokens;
    for (let at = from + frame, row = 0; row < tokens; row++, at += stride) squares += ((shares[at] ?? 0) - mean) ** 2;
    const deviation = Math.max(Math.sqrt(squares / tokens), Number.EPSILON);
    for (const [row, target] of rows.entries())
      target[frame] = ((shares[from + row * stride + frame] ?? 0) - mean) / deviation;
  }
  return rows;
}

/** The median around each frame, the row mirrored at both ends. */
function smoothed(row: Float64Array): Float64Array {
  const last = row.length - 1;
  if (last < MEDIAN_REACH) return row;
  const mirrored = (at: number) => row[at < 0 ? -at : at > last ? 2 * last - at : at] ?? 0;
  return row.map((_, frame) => {
    const around = Float64Array.from({ length: 2 * MEDIAN_REACH + 1 }, (__, at) => mirrored(frame + at - MEDIAN_REACH));
    return around.sort()[MEDIAN_REACH] ?? 0;
  });
}

/** Steps of a path: to the next row and frame, to the next row, or to the next frame. */
const [BOTH, ROW, FRAME] = [0, 1, 2] as const;

/**
 * Dynamic time warping: the path from the first row and frame to the last ones, a step at a time, that gathers the
 * most.
 * @returns the first frame of each row on it
 */
function warp(scores: readonly Float64Array[], frames: number): number[] {
  const steps = scores.map(() => new Uint8Array(frames));
  let before = Float64Array.from({ length: frames + 1 }, (_, frame) => (frame === 0 ? 0 : Number.POSITIVE_INFINITY));
  for (const [row, score] of scores.entries()) {
    const costs = new Float64Array(frames + 1).fill(Number.POSITIVE_INFINITY);
    for (let frame = 1; frame <= frames; frame++) {
      const [both = 0, down = 0, along = 0] = [before[frame - 1], before[frame], costs[frame - 1]];
      const step = both < down && both < along ? BOTH : down < both && down < along ? ROW : FRAME;
      costs[frame] = [both, down, along][step] as number;
      costs[frame] = (costs[frame] ?? 0) - (score[frame - 1] ?? 0);
      const kept = steps[row];
      if (kept !== undefined) kept[frame - 1] = step;
    }
    before = costs;
  }
  const starts = new Array<number>(scores.length).fill(0);
  let [row, frame] = [scores.length - 1, frames - 1];
  while (row >= 0 && frame >= 0) {
    starts[row] = frame;
    const step = frame === 0 && row === 0 ? BOTH : (steps[row]?.[frame] ?? ROW);
    if (step !== FRAME) row--;
    if (step !== ROW) frame--;
  }
  return starts;
}
