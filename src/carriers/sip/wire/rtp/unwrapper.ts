/** The counters of RTP packets, which have 16 and 32 bits and wrap, as numbers that only grow. */

const SEQUENCE_MODULUS = 0x1_0000;
const TIMESTAMP_MODULUS = 0x1_0000_0000;

/** A counter that wraps, unwrapped: each value is taken to be the nearest one to the greatest so far. */
export class Unwrapper {
  readonly #modulus: number;
  #greatest: number | null = null;

  constructor(modulus: number) {
    this.#modulus = modulus;
  }

  /** The value without wraps; the first is as it came, and one before it may be negative. */
  unwrap(value: number): number {
    if (this.#greatest === null) {
      this.#greatest = value;
      return value;
    }
    const modulus = this.#modulus;
    const ahead = (((value - this.#greatest) % modulus) + modulus) % modulus;
    const unwrapped = this.#greatest + (ahead < modulus / 2 ? ahead : ahead - modulus);
    this.#greatest = Math.max(this.#greatest, unwrapped);
    return unwrapped;
  }
}

/** For the sequence numbers of packets. */
export function sequenceUnwrapper(): Unwrapper {
  return new Unwrapper(SEQUENCE_MODULUS);
}

/** For the timestamps of packets. */
export function timestampUnwrapper(): Unwrapper {
  return new Unwrapper(TIMESTAMP_MODULUS);
}
