/**
 * A Stockham transform: each pass takes the points of one signal through butterflies of 4, 5 or 6 and writes them in
 * order into another, so that nothing has to be sorted. Decimation in frequency: Van Loan, "Computational Frameworks
 * for the Fast Fourier Transform" (1992), section 1.7.
 */

/** A complex signal, its parts apart. */
export interface Complex {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** One pass: `stride` signals of `length` points lie between one another. */
interface Pass {
  readonly radix: 4 | 5 | 6;
  readonly length: number;
  readonly stride: number;
  /** e^(-2 pi i j p / length): for each p below length / radix those of j from 1 to radix - 1. */
  readonly twiddles: Complex;
}

/** The passes of one length of signal; made once. */
export type FftPlan = readonly Pass[];

const SIN_60 = Math.sqrt(3) / 2;
const COS_72 = Math.cos((2 * Math.PI) / 5);
const COS_144 = Math.cos((4 * Math.PI) / 5);
const SIN_72 = Math.sin((2 * Math.PI) / 5);
const SIN_144 = Math.sin((4 * Math.PI) / 5);

/** An empty signal of `length` points. */
export function complexOf(length: number): Complex {
  return { re: new Float64Array(length), im: new Float64Array(length) };
}

/** The transform of as many points as the product of `radices`. */
export function planFft(radices: readonly Pass['radix'][]): FftPlan {
  let [length, stride] = [radices.reduce((product, radix) => product * radix, 1), 1];
  return radices.map((radix) => {
    const pass = { radix, length, stride, twiddles: twiddlesOf(length, radix) };
    length /= radix;
    stride *= radix;
    return pass;
  });
}

/** The transform of `a`, in one of the two; neither keeps what it had. */
export function runFft(plan: FftPlan, a: Complex, b: Complex): Complex {
  let [from, to] = [a, b];
  for (const pass of plan) {
    runPass(pass, from, to);
    [from, to] = [to, from];
  }
  return from;
}

/** e^(-2 pi i k / period) for the first `length` k. */
export function circle(length: number, period: number): Complex {
  const angle = (_: unknown, k: number) => (-2 * Math.PI * k) / period;
  return {
    re: Float64Array.from({ length }, (_, k) => Math.cos(angle(_, k))),
    im: Float64Array.from({ length }, (_, k) => Math.sin(angle(_, k))),
  };
}

function twiddlesOf(length: number, radix: number): Complex {
  const { re, im } = circle(length, length);
  const powers = Array.from({ length: length / radix }, (_, p) =>
    Array.from({ length: radix - 1 }, (_, j) => (p * (j + 1)) % length),
  ).flat();
  return {
    re: Float64Array.from(powers, (power) => re[power] as number),
    im: Float64Array.from(powers, (power) => im[power] as number),
  };
}

/** Takes the points of `from` through `pass` into `to`. */
function runPass(pass: Pass, from: Complex, to: Complex): void {
  if (pass.radix === 4) passFour(pass, from, to);
  else if (pass.radix === 5) passFive(pass, from, to);
  else passSix(pass, from, to);
}

function passFour({ length, stride, twiddles }: Pass, { re: xr, im: xi }: Complex, { re: yr, im: yi }: Complex): void {
  const apart = (length / 4) * stride;
  const { re: wr, im: wi } = twiddles;
  for (let p = 0, t = 0; p < length / 4; p++, t += 3) {
    for (let q = 0; q < stride; q++) {
      const at = p * stride + q;
      const ar = xr[at] as number;
      const ai = xi[at] as number;
      const br = xr[at + apart] as number;
      const bi = xi[at + apart] as number;
      const cr = xr[at + 2 * apart] as number;
      const ci = xi[at + 2 * apart] as number;
      const dr = xr[at + 3 * apart] as number;
      const di = xi[at + 3 * apart] as number;
      const to = 4 * p * stride + q;
      yr[to] = ar + cr + br + dr;
      yi[to] = ai + ci + bi + di;
      turnTo(yr, yi, to + stride, ar - cr + bi - di, ai - ci - br + dr, wr[t] as number, wi[t] as number);
      turnTo(yr, yi, to + 2 * stride, ar + cr - br - dr, ai + ci - bi - di, wr[t + 1] as number, wi[t + 1] as number);
      turnTo(yr, yi, to + 3 * stride, ar - cr - bi + di, ai - ci + br - dr, wr[t + 2] as number, wi[t + 2] as number);
    }
  }
}

function passFive({ length, stride, twiddles }: Pass, { re: xr, im: xi }: Complex, { re: yr, im: yi }: Complex): void {
  const apart = (length / 5) * stride;
  const { re: wr, im: wi } = twiddles;
  for (let p = 0, t = 0; p < length / 5; p++, t += 4) {
    for (let q = 0; q < stride; q++) {
      const at = p * stride + q;
      const ar = xr[at] as number;
      const ai = xi[at] as number;
      const br = xr[at + apart] as number;
      const bi = xi[at + apart] as number;
      const cr = xr[at + 2 * apart] as number;
      const ci = xi[at + 2 * apart] as number;
      const dr = xr[at + 3 * apart] as number;
      const di = xi[at + 3 * apart] as number;
      const er = xr[at + 4 * apart] as number;
      const ei = xi[at + 4 * apart] as number;
      const outerR = br + er;
      const outerI = bi + ei;
      const innerR = cr + dr;
      const innerI = ci + di;
      const evenR = ar + COS_72 * outerR + COS_144 * innerR;
      const evenI = ai + COS_72 * outerI + COS_144 * innerI;
      const farR = ar + COS_144 * outerR + COS_72 * innerR;
      const farI = ai + COS_144 * outerI + COS_72 * innerI;
      const oddR = SIN_72 * (bi - ei) + SIN_144 * (ci - di);
      const oddI = SIN_72 * (er - br) + SIN_144 * (dr - cr);
      const awayR = SIN_144 * (bi - ei) - SIN_72 * (ci - di);
      const awayI = SIN_144 * (er - br) - SIN_72 * (dr - cr);
      const to = 5 * p * stride + q;
      yr[to] = ar + outerR + innerR;
      yi[to] = ai + outerI + innerI;
      turnTo(yr, yi, to + stride, evenR + oddR, evenI + oddI, wr[t] as number, wi[t] as number);
      turnTo(yr, yi, to + 2 * stride, farR + awayR, farI + awayI, wr[t + 1] as number, wi[t + 1] as number);
      turnTo(yr, yi, to + 3 * stride, farR - awayR, farI - awayI, wr[t + 2] as number, wi[t + 2] as number);
      turnTo(yr, yi, to + 4 * stride, evenR - oddR, evenI - oddI, wr[t + 3] as number, wi[t + 3] as number);
    }
  }
}

/**
 * The last pass: its points need no turning any more. Six points are three pairs of points half the circle apart, whose
 * sums and differences are transformed by themselves (Good, 1958).
 */
function passSix({ stride }: Pass, { re: xr, im: xi }: Complex, { re: yr, im: yi }: Complex): void {
  for (let q = 0; q < stride; q++) {
    const ar = xr[q] as number;
    const ai = xi[q] as number;
    const br = xr[q + stride] as number;
    const bi = xi[q + stride] as number;
    const cr = xr[q + 2 * stride] as number;
    const ci = xi[q + 2 * stride] as number;
    const dr = xr[q + 3 * stride] as number;
    const di = xi[q + 3 * stride] as number;
    const er = xr[q + 4 * stride] as number;
    const ei = xi[q + 4 * stride] as number;
    const fr = xr[q + 5 * stride] as number;
    const fi = xi[q + 5 * stride] as number;
    const sumR = cr + fr + er + br;
    const sumI = ci + fi + ei + bi;
    const riseR = cr + fr - er - br;
    const riseI = ci + fi - ei - bi;
    const gapR = cr - fr + er - br;
    const gapI = ci - fi + ei - bi;
    const fallR = cr - fr - er + br;
    const fallI = ci - fi - ei + bi;
    yr[q] = ar + dr + sumR;
    yi[q] = ai + di + sumI;
    yr[q + 4 * stride] = ar + dr - sumR / 2 + SIN_60 * riseI;
    yi[q + 4 * stride] = ai + di - sumI / 2 - SIN_60 * riseR;
    yr[q + 2 * stride] = ar + dr - sumR / 2 - SIN_60 * riseI;
    yi[q + 2 * stride] = ai + di - sumI / 2 + SIN_60 * riseR;
    yr[q + 3 * stride] = ar - dr + gapR;
    yi[q + 3 * stride] = ai - di + gapI;
    yr[q + stride] = ar - dr - gapR / 2 + SIN_60 * fallI;
    yi[q + stride] = ai - di - gapI / 2 - SIN_60 * fallR;
    yr[q + 5 * stride] = ar - dr - gapR / 2 - SIN_60 * fallI;
    yi[q + 5 * stride] = ai - di - gapI / 2 + SIN_60 * fallR;
  }
}

/** Writes the point `re + i im`, turned by `cos + i sin`. */
function turnTo(
  yr: Float64Array,
  yi: Float64Array,
  at: number,
  re: number,
  im: number,
  cos: number,
  sin: number,
): void {
  yr[at] = re * cos - im * sin;
  yi[at] = re * sin + im * cos;
}
