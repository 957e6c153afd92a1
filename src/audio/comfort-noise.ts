/** Low noise in place of digital silence: a line without any sound seems dead to whoever listens. */
import { type Codec, msToSamples } from '../foundation/units.ts';
import { encodeG711 } from './g711.ts';

/** How loud it is, in dB below full scale: a quiet line. */
export const COMFORT_NOISE_DBOV = 65;
/** White noise of this level has a peak of √3 times its root mean square. */
const PEAK = 32_768 * 10 ** (-COMFORT_NOISE_DBOV / 20) * Math.sqrt(3);
/** Linear congruential generator (Numerical Recipes, §7.1): good enough to be heard. */
const FACTOR = 1_664_525;
const SUMMAND = 1_013_904_223;
const MODULUS = 2 ** 32;

/** An endless stream of it. */
export class ComfortNoise {
  readonly #codec: Codec;
  #state: number;

  /** `seed` = a whole number; streams of the same seed are the same. */
  constructor(codec: Codec, seed: number) {
    this.#codec = codec;
    this.#state = seed >>> 0;
  }

  /** The next `durationMs` of it, in the codec. */
  next(durationMs: number): Uint8Array {
    const samples = new Int16Array(msToSamples(durationMs, this.#codec.rateHz));
    for (let n = 0; n < samples.length; n++) {
      this.#state = (Math.imul(this.#state, FACTOR) + SUMMAND) >>> 0;
      samples[n] = Math.round(PEAK * ((2 * this.#state) / MODULUS - 1));
    }
    return encodeG711(samples, this.#codec);
  }
}
