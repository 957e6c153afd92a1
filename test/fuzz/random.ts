/** A small seeded generator (mulberry32): the same seed gives the same numbers. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 2³² − 1. */
  bits(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** From 0 to `limit` − 1; 0 for a limit below 1. */
  below(limit: number): number {
    return limit < 1 ? 0 : this.bits() % limit;
  }

  /** One of `items`, which are not empty. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
