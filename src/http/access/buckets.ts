import type { Clock } from '../../foundation/clock.ts';

/** Names remembered. The one that was idle longest is forgotten first. */
const NAMES_MAX = 10_000;

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

/** A token bucket for each of many names: `burst` tokens, and another every `refillMs`. */
export class Buckets {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #refillMs: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, { burst, refillMs }: { burst: number; refillMs: number }) {
    this.#clock = clock;
    this.#burst = burst;
    this.#refillMs = refillMs;
  }

  isEmpty(name: string): boolean {
    return this.#left(name) < 1;
  }

  take(name: string): void {
    this.#set(name, Math.max(this.#left(name) - 1, 0));
  }

  /** Gives one token back that {@link take} took. */
  giveBack(name: string): void {
    this.#set(name, Math.min(this.#left(name) + 1, this.#burst));
  }

  refill(name: string): void {
    this.#buckets.delete(name);
  }

  #set(name: string, left: number): void {
    this.#buckets.delete(name);
    this.#buckets.set(name, { left, atMs: this.#clock.nowMs() });
    dropOldest(this.#buckets);
  }

  #left(name: string): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return this.#burst;
    return Math.min(this.#burst, bucket.left + (this.#clock.nowMs() - bucket.atMs) / this.#refillMs);
  }
}

/** Keeps the newest {@link NAMES_MAX}. */
export function dropOldest(names: Map<string, unknown> | Set<string>): void {
  for (const oldest of names.keys()) {
    if (names.size <= NAMES_MAX) return;
    names.delete(oldest);
  }
}
