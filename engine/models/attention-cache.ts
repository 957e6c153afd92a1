/** Keys and values of attention that travel from run to run. */
import { Tensor } from '../onnxruntime.ts';

/** The first `count` positions of a cache [..., positions, head size]; the same tensor if it has no more. */
export function cropCache(cache: Tensor, count: number): Tensor {
  const [positions = 0, size = 0] = cache.dims.slice(-2);
  if (positions === count) return cache;
  const outer = cache.dims.slice(0, -2);
  const heads = outer.reduce((product, length) => product * length, 1);
  const data = cache.data as Float32Array;
  const kept = new Float32Array(heads * count * size);
  for (let head = 0; head < heads; head++) {
    const from = head * positions * size;
    kept.set(data.subarray(from, from + count * size), head * count * size);
  }
  return new Tensor('float32', kept, [...outer, count, size]);
}
