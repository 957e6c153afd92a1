/** Floats of 16 bits (IEEE 754 binary16), which JavaScript of this release has no arrays of. */

const FRACTION_BITS = 10;
const FRACTION_MASK = 0x3ff;
const EXPONENT_MASK = 0x1f;
const EXPONENT_BIAS = 15;
/** The least positive number: numbers without an exponent are multiples of it. */
const LEAST = 2 ** -24;

/** The numbers that these bits stand for. */
export function floatsOfHalves(halves: Uint16Array): Float32Array {
  return Float32Array.from(halves, floatOfHalf);
}

function floatOfHalf(bits: number): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> FRACTION_BITS) & EXPONENT_MASK;
  const fraction = bits & FRACTION_MASK;
  if (exponent === 0) return sign * fraction * LEAST;
  if (exponent === EXPONENT_MASK) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * 2 ** (exponent - EXPONENT_BIAS) * (1 + fraction / 2 ** FRACTION_BITS);
}
