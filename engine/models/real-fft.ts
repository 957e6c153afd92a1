/**
 * The Fourier transform of real samples and back, by one of half as many complex points: W. H. Press et al., "Numerical
 * Recipes" (2007), section 12.3.
 */
import { type Complex, circle, complexOf, type FftPlan, planFft, runFft } from './fft.ts';

/**
 * Transforms between real samples and half as many bins, and one more: 0 Hz, half the sampling rate and all between. It
 * keeps its own buffers, so one call at a time may use it.
 */
export class RealFft {
  readonly #points: number;
  readonly #plan: FftPlan;
  /** e^(-2 pi i k / samples) for each bin. */
  readonly #turns: Complex;
  readonly #a: Complex;
  readonly #b: Complex;

  /** @param radices their product is half the number of samples */
  constructor(radices: Parameters<typeof planFft>[0]) {
    this.#points = radices.reduce((product, radix) => product * radix, 1);
    this.#plan = planFft(radices);
    this.#turns = circle(this.#points + 1, 2 * this.#points);
    this.#a = complexOf(this.#points);
    this.#b = complexOf(this.#points);
  }

  /** Writes the spectrum of `samples[from…]`, each times its `window`, to `bins`. */
  forward(samples: Float64Array, from: number, window: Float64Array, bins: Complex): void {
    const points = this.#points;
    const turns = this.#turns;
    const { re, im } = this.#a;
    for (let i = 0, at = from; i < points; i++, at += 2) {
      re[i] = (samples[at] as number) * (window[2 * i] as number);
      im[i] = (samples[at + 1] as number) * (window[2 * i + 1] as number);
    }
    const { re: zr, im: zi } = runFft(this.#plan, this.#a, this.#b);
    for (let k = 0; k <= points; k++) {
      const p = k === points ? 0 : k;
      const q = k === 0 ? 0 : points - k;
      const pr = zr[p] as number;
      const pi = zi[p] as number;
      const qr = zr[q] as number;
      const qi = zi[q] as number;
      const cos = turns.re[k] as number;
      const sin = turns.im[k] as number;
      bins.re[k] = (pr + qr + (pi + qi) * cos + (pr - qr) * sin) / 2;
      bins.im[k] = (pi - qi + (pi + qi) * sin - (pr - qr) * cos) / 2;
    }
  }

  /**
   * Adds the samples of `bins`, each times its `window`, to `samples[from…]`. The imaginary parts of the first and the
   * last bin do not count: real samples have none.
   */
  inverse({ re: xr, im: xi }: Complex, window: Float64Array, samples: Float64Array, from: number): void {
    const points = this.#points;
    const turns = this.#turns;
    // The transform back is the one forward with real and imaginary parts exchanged.
    const { re: im, im: re } = this.#a;
    const first = xr[0] as number;
    const last = xr[points] as number;
    re[0] = first + last;
    im[0] = first - last;
    for (let k = 1; k < points; k++) {
      const pr = xr[k] as number;
      const pi = xi[k] as number;
      const qr = xr[points - k] as number;
      const qi = xi[points - k] as number;
      const cos = turns.re[k] as number;
      const sin = turns.im[k] as number;
      const oddR = (pr - qr) * cos + (pi + qi) * sin;
      const oddI = (pi + qi) * cos - (pr - qr) * sin;
      re[k] = pr + qr - oddI;
      im[k] = pi - qi + oddR;
    }
    const { re: odd, im: even } = runFft(this.#plan, this.#a, this.#b);
    for (let i = 0, at = from; i < points; i++, at += 2) {
      samples[at] = (samples[at] as number) + ((even[i] as number) * (window[2 * i] as number)) / (2 * points);
      samples[at + 1] =
        (samples[at + 1] as number) + ((odd[i] as number) * (window[2 * i + 1] as number)) / (2 * points);
    }
  }
}
