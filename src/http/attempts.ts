import type { Clock } from '../clock.ts';

/** Wrong keys that an address may offer in a row. */
const BURST = 10;
/** One more after each of these. */
const REFILL_MS = 6000;
/** Addresses remembered; the one that was quiet longest is forgotten first. */
const ADDRESSES_MAX = 10_000;

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

/** Counts failed attempts per address (a token bucket each), so that keys cannot be guessed by trying. */
export class Attempts {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  /** Whether `address` has failed so often that it must wait, whatever it offers now. */
  isExhausted(address: string): boolean {
    return this.#left(address) < 1;
  }

  /** `address` failed once more. */
  fail(address: string): void {
    const left = Math.max(this.#left(address) - 1, 0);
    this.#buckets.delete(address);
    this.#buckets.set(address, { left, atMs: this.#clock.nowMs() });
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= ADDRESSES_MAX) return;
      this.#buckets.delete(oldest);
    }
  }

  #left(address: string): number {
    const bucket = this.#buckets.get(address);
    if (bucket === undefined) return BURST;
    return Math.min(BURST, bucket.left + (this.#clock.nowMs() - bucket.atMs) / REFILL_MS);
  }
}
