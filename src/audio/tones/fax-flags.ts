/**
 * The preamble of a fax machine that has answered: for a second it sends flags, 01111110, at 300 bit/s with 1650 Hz for
 * a 1 and 1850 Hz for a 0 (ITU-T V.21, channel 2; T.30, 5.3.1).
 */

const MARK_HZ = 1650;
const SPACE_HZ = 1850;
const BITS_PER_S = 300;
/** Bits of 1 in a row, and of 0: one from the end of a flag, one from the beginning of the next. */
const ONES = 6;
const ZEROS = 2;
const SLACK_BITS = 0.8;
/** A third of a second. */
const FLAGS_MIN = 12;

/** Follows sound that may be a preamble. */
export class FaxFlags {
  readonly #rateHz: number;
  readonly #window: number;
  readonly #mark: SlidingTone;
  readonly #space: SlidingTone;
  #isOne = true;
  /** Samples since the last change of the bit. */
  #runSamples = 0;
  #areOnesRight = false;
  #flags = 0;

  /** @param rateHz a multiple of 50 */
  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#window = Math.round(rateHz / BITS_PER_S);
    this.#mark = new SlidingTone(MARK_HZ, rateHz, this.#window);
    this.#space = new SlidingTone(SPACE_HZ, rateHz, this.#window);
  }

  /** Takes the next samples. Returns whether so many flags have come that it is a preamble. */
  take(samples: Int16Array): boolean {
    for (const sample of samples) {
      const isOne = this.#mark.push(sample) >= this.#space.push(sample);
      this.#runSamples++;
      if (isOne !== this.#isOne) this.#change(isOne);
    }
    return this.#flags >= FLAGS_MIN;
  }

  /** What came so far was none. */
  reset(): false {
    if (this.#flags === 0 && this.#runSamples === 0) return false;
    this.#flags = 0;
    this.#runSamples = 0;
    this.#areOnesRight = false;
    return false;
  }

  #change(isOne: boolean): void {
    const bits = (this.#runSamples * BITS_PER_S) / this.#rateHz;
    const isRight = Math.abs(bits - (this.#isOne ? ONES : ZEROS)) <= SLACK_BITS;
    if (!isRight) this.#flags = 0;
    else if (!this.#isOne && this.#areOnesRight) this.#flags++;
    this.#areOnesRight = isRight && this.#isOne;
    this.#isOne = isOne;
    this.#runSamples = 0;
  }
}

/** The energy of one frequency in the last samples. */
class SlidingTone {
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  #sumReal = 0;
  #sumImaginary = 0;
  #at = 0;
  #phase = 0;

  constructor(toneHz: number, rateHz: number, window: number) {
    // Both frequencies are multiples of 50 Hz, so that the wave is the same again after so many samples.
    const turn = rateHz / 50;
    this.#cos = Float64Array.from({ length: turn }, (_, i) => Math.cos((2 * Math.PI * toneHz * i) / rateHz));
    this.#sin = Float64Array.from({ length: turn }, (_, i) => Math.sin((2 * Math.PI * toneHz * i) / rateHz));
    this.#real = new Float64Array(window);
    this.#imaginary = new Float64Array(window);
  }

  push(sample: number): number {
    const at = this.#at;
    const real = sample * (this.#cos[this.#phase] as number);
    const imaginary = sample * (this.#sin[this.#phase] as number);
    this.#sumReal += real - (this.#real[at] as number);
    this.#sumImaginary += imaginary - (this.#imaginary[at] as number);
    this.#real[at] = real;
    this.#imaginary[at] = imaginary;
    this.#at = at + 1 === this.#real.length ? 0 : at + 1;
    this.#phase = this.#phase + 1 === this.#cos.length ? 0 : this.#phase + 1;
    return this.#sumReal ** 2 + this.#sumImaginary ** 2;
  }
}
