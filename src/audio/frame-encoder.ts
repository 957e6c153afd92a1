import type { Codec } from '../foundation/units.ts';
import { joinBytes } from './bytes.ts';
import { Framer } from './frames.ts';
import { encodeG711 } from './g711.ts';
import { Resampler } from './resample.ts';

/**
 * Turns a stream of mono samples into whole frames of a codec. The frames do not depend on how the stream is cut.
 * Throws a RangeError for a rate that {@link Resampler} does not take.
 */
export class FrameEncoder {
  readonly #codec: Codec;
  readonly #resampler: Resampler;
  readonly #framer: Framer;

  constructor(fromHz: number, codec: Codec) {
    this.#codec = codec;
    this.#resampler = new Resampler(fromHz, codec.rateHz);
    this.#framer = new Framer(codec);
  }

  /** Returns the frames that are complete; the rest comes with the next samples. Perhaps none. */
  push(samples: Int16Array): Uint8Array {
    return this.#framer.push(encodeG711(this.#resampler.push(samples), this.#codec));
  }

  /** Returns the rest, its last frame padded with silence, and is ready for another stream. */
  flush(): Uint8Array {
    const whole = this.#framer.push(encodeG711(this.#resampler.flush(), this.#codec));
    return joinBytes([whole, this.#framer.flush()]);
  }
}
