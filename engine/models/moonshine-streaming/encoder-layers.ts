/** What a cached encoder must know of its layers: found out once, when its graph is made, and kept beside it. */
import { ModelFileError } from '../folder-files.ts';

/** Shapes of a layer's caches without frames in them, and how far it sees. */
export interface EncoderLayer {
  /** Frames that it sees to the left and to the right of a frame. */
  readonly left: number;
  readonly right: number;
  /** Whether the mask is added to scores; otherwise it lets them through. */
  readonly isMaskAdded: boolean;
  readonly keys: readonly number[];
  readonly values: readonly number[];
  readonly queries: readonly number[];
  readonly frames: readonly number[];
}

/** Below this a mask hides. */
const HIDDEN_BELOW = -100;

/**
 * How far a layer sees, by its mask of `count` frames: [..., count, count].
 * @throws ModelFileError when it is no window
 */
export function sightOf(
  mask: Float32Array,
  count: number,
  isMaskAdded: boolean,
): { readonly left: number; readonly right: number } {
  const sees = (from: number, to: number): boolean => {
    const value = mask[from * count + to] ?? Number.NaN;
    return isMaskAdded ? value > HIDDEN_BELOW : value > 0;
  };
  const middle = count >> 1;
  let [left, right] = [0, 0];
  while (left < middle && sees(middle, middle - left - 1)) left++;
  while (middle + right + 1 < count && sees(middle, middle + right + 1)) right++;
  for (let from = 0; from < count; from++) {
    for (let to = 0; to < count; to++) {
      if (sees(from, to) !== (from - to <= left && to - from <= right))
        throw new ModelFileError(`a layer's mask is no window: frame ${from} of ${count}`);
    }
  }
  return { left, right };
}

/** The mask of some queries for keys that begin `offset` frames before them, [queries, keys]. */
export function windowMask(
  { left, right, isMaskAdded }: EncoderLayer,
  { queries, keys, offset }: { readonly queries: number; readonly keys: number; readonly offset: number },
): Float32Array {
  const [seen, hidden] = isMaskAdded ? [0, -1e9] : [1, 0];
  const mask = new Float32Array(queries * keys).fill(hidden);
  for (let query = 0; query < queries; query++) {
    const own = query + offset;
    const end = Math.min(keys, own + right + 1);
    mask.fill(seen, query * keys + Math.min(end, Math.max(0, own - left)), query * keys + end);
  }
  return mask;
}
