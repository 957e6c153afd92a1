/**
 * Spectra of real samples, by the package `fft.js`. A spectrum has its bins one after the other, real and imaginary
 * part of each: `samples / 2 + 1` bins, from 0 Hz to half the sampling rate.
 */
import FFT from 'fft.js';

/** Transforms `size` samples, a power of two, and back. It keeps its own buffers: one call at a time may use it. */
export class Spectrum {
  /** Numbers of one spectrum: two for each bin. */
  readonly length: number;
  readonly #fft: FFT;
  // Plain arrays: the package is half as fast on typed ones.
  readonly #samples: number[];
  readonly #bins: number[];
  readonly #back: number[];

  /** @throws Error when `size` is no power of two */
  constructor(size: number) {
    this.#fft = new FFT(size);
    this.length = size + 2;
    this.#samples = new Array<number>(size).fill(0);
    this.#bins = this.#fft.createComplexArray();
    this.#back = this.#fft.createComplexArray();
  }

  /** Writes the spectrum of `samples` to `bins` from `to` on. */
  forward(samples: Float64Array, bins: Float64Array, to = 0): void {
    const own = this.#samples;
    for (let i = 0; i < own.length; i++) own[i] = samples[i] as number;
    this.#fft.realTransform(this.#bins, own);
    for (let i = 0; i < this.length; i++) bins[to + i] = this.#bins[i] as number;
  }

  /** Writes the samples of the spectrum that begins at `from` of `bins` to `samples`. */
  inverse(bins: Float64Array, samples: Float64Array, from = 0): void {
    const own = this.#bins;
    for (let i = 0; i < this.length; i++) own[i] = bins[from + i] as number;
    this.#fft.completeSpectrum(own);
    this.#fft.inverseTransform(this.#back, own);
    for (let i = 0; i < this.#samples.length; i++) samples[i] = this.#back[2 * i] as number;
  }
}
