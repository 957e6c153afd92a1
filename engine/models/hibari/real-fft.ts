/**
 * The Fourier transform of 1200 real samples and back, by one of 600 complex points: W. H. Press et al., "Numerical
 * Recipes" (2007), section 12.3. The shape is fixed, so that every table is made once.
 */
import { type Complex, circle, complexOf, planFft, runFft } from '../fft.ts';

/** Real samples of one transform. */
export const FFT_SAMPLES = 1200;
/** Bins of one transform: 0 Hz, half the sampling rate and all between. */
export const FFT_BINS = FFT_SAMPLES / 2 + 1;

const POINTS = FFT_SAMPLES / 2;
const PLAN = planFft([5, 5, 4, 6]);
/** e^(-2 pi i k / 1200) for each bin. */
const TURNS = circle(FFT_BINS, FFT_SAMPLES);

/** Transforms between 1200 real samples and 601 bins. It keeps its own buffers, so one call at a time may use it. */
export class RealFft {
  readonly #a = complexOf(POINTS);
  readonly #b = complexOf(POINTS);

  /** Writes the spectrum of `samples[from…]`, each times its `window`, to `bins`. */
  forward(samples: Float64Array, from: number, window: Float64Array, bins: Complex): void {
    const { re, im } = this.#a;
    for (let i = 0, at = from; i < POINTS; i++, at += 2) {
      re[i] = (samples[at] as number) * (window[2 * i] as number);
      im[i] = (samples[at + 1] as number) * (window[2 * i + 1] as number);
    }
    const { re: zr, im: zi } = runFft(PLAN, this.#a, this.#b);
    for (let k = 0; k < FFT_BINS; k++) {
      const p = k === POINTS ? 0 : k;
      const q = k === 0 ? 0 : POINTS - k;
      const pr = zr[p] as number;
      const pi = zi[p] as number;
      const qr = zr[q] as number;
      const qi = zi[q] as number;
      const cos = TURNS.re[k] as number;
      const sin = TURNS.im[k] as number;
      bins.re[k] = (pr + qr + (pi + qi) * cos + (pr - qr) * sin) / 2;
      bins.im[k] = (pi - qi + (pi + qi) * sin - (pr - qr) * cos) / 2;
    }
  }

  /**
   * Adds the samples of `bins`, each times its `window`, to `samples[from…]`. The imaginary parts of the first and the
   * last bin do not count: real samples have none.
   */
  inverse({ re: xr, im: xi }: Complex, window: Float64Array, samples: Float64Array, from: number): void {
    // The transform back is the one forward with real and imaginary parts exchanged.
    const { re: im, im: re } = this.#a;
    const first = xr[0] as number;
    const last = xr[POINTS] as number;
    re[0] = first + last;
    im[0] = first - last;
    for (let k = 1; k < POINTS; k++) {
      const pr = xr[k] as number;
      const pi = xi[k] as number;
      const qr = xr[POINTS - k] as number;
      const qi = xi[POINTS - k] as number;
      const cos = TURNS.re[k] as number;
      const sin = TURNS.im[k] as number;
      const oddR = (pr - qr) * cos + (pi + qi) * sin;
      const oddI = (pi + qi) * cos - (pr - qr) * sin;
      re[k] = pr + qr - oddI;
      im[k] = pi - qi + oddR;
    }
    const { re: odd, im: even } = runFft(PLAN, this.#a, this.#b);
    for (let i = 0, at = from; i < POINTS; i++, at += 2) {
      samples[at] = (samples[at] as number) + ((even[i] as number) * (window[2 * i] as number)) / FFT_SAMPLES;
      samples[at + 1] =
        (samples[at + 1] as number) + ((odd[i] as number) * (window[2 * i + 1] as number)) / FFT_SAMPLES;
    }
  }
}
