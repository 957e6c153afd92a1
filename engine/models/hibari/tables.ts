/**
 * Sines and exponentials from tables: a quarter of the time of `Math`'s, to about nine digits. The nearest entry is
 * corrected by the first terms of the function's series around it.
 */

const CIRCLE = 4096;
const RADIANS_PER_ENTRY = (2 * Math.PI) / CIRCLE;
const ENTRIES_PER_RADIAN = CIRCLE / (2 * Math.PI);
const SINES = Float64Array.from({ length: CIRCLE }, (_, i) => Math.sin(i * RADIANS_PER_ENTRY));
const QUARTER = CIRCLE / 4;

/** Sine of `x` radians, of any size. */
export function sine(x: number): number {
  const entry = Math.round(x * ENTRIES_PER_RADIAN);
  const rest = x - entry * RADIANS_PER_ENTRY;
  const sin = SINES[entry & (CIRCLE - 1)] as number;
  const cos = SINES[(entry + QUARTER) & (CIRCLE - 1)] as number;
  return sin + rest * (cos - (rest / 2) * (sin + (rest / 3) * cos));
}

/** Writes the number with that `length` and `angle` in radians to `re[at]` and `im[at]`. */
export function writePolar(length: number, angle: number, re: Float32Array, im: Float32Array, at: number): void {
  const entry = Math.round(angle * ENTRIES_PER_RADIAN);
  const rest = angle - entry * RADIANS_PER_ENTRY;
  const sin = SINES[entry & (CIRCLE - 1)] as number;
  const cos = SINES[(entry + QUARTER) & (CIRCLE - 1)] as number;
  re[at] = length * (cos - rest * (sin + (rest / 2) * cos));
  im[at] = length * (sin + rest * (cos - (rest / 2) * sin));
}

const HALVES = 1024;
const POWERS = Float64Array.from({ length: HALVES }, (_, i) => 2 ** (i / HALVES));
const LEAST_POWER = -64;
/** 2^n from {@link LEAST_POWER} to the largest that {@link exponential} meets. */
const OCTAVES = Float64Array.from({ length: 128 }, (_, i) => 2 ** (LEAST_POWER + i));
const ENTRIES_PER_UNIT = HALVES / Math.LN2;
const UNITS_PER_ENTRY = Math.LN2 / HALVES;
const LEAST = LEAST_POWER * Math.LN2 + 1;

/** e^x for x up to 40; 0 below -43. */
export function exponential(x: number): number {
  if (x < LEAST) return 0;
  const entry = Math.round(x * ENTRIES_PER_UNIT);
  const rest = x - entry * UNITS_PER_ENTRY;
  const power = (OCTAVES[(entry >> 10) - LEAST_POWER] as number) * (POWERS[entry & (HALVES - 1)] as number);
  return power * (1 + rest * (1 + rest / 2));
}
