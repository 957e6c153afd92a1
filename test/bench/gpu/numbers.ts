/** Comparing what two devices gave, float16 among it: Node has no array for that. */
import type { Tensor } from '../../../engine/onnxruntime.ts';

const FRACTION_BITS = 10;

/** One number of its 16 bits. */
export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> FRACTION_BITS) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The numbers of a float32 or float16 tensor. @throws Error for another type */
export function numbersOf({ data, type }: Tensor): Float32Array {
  if (data instanceof Float32Array) return data;
  if (data instanceof Uint16Array) return Float32Array.from(data, halfToFloat);
  if (type === 'float16') return Float32Array.from(data as ArrayLike<number>);
  throw new Error(`got ${type}, expected float32 or float16`);
}

/**
 * Greatest difference as a share of the greatest expected number; infinite where one is no number, or there are not as
 * many.
 */
export function relativeDifference(found: Float32Array, expected: Float32Array): number {
  if (found.length !== expected.length) return Number.POSITIVE_INFINITY;
  let [difference, greatest] = [0, 0];
  for (const [index, value] of expected.entries()) {
    const other = found[index] ?? Number.NaN;
    if (Number.isNaN(value - other)) return Number.POSITIVE_INFINITY;
    difference = Math.max(difference, Math.abs(value - other));
    greatest = Math.max(greatest, Math.abs(value));
  }
  return difference / greatest;
}
