import type { Clock } from '../../foundation/clock.ts';
import { dropOldest } from './drop-oldest.ts';
import type { CountSink, SharedCounts } from './shared-counts.ts';

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
  readonly #others: CountSink | null;

  /** `shared`: other gateways take from the same buckets, by the name `kind`; null = there are none. */
  constructor(
    clock: Clock,
    { burst, refillMs }: { burst: number; refillMs: number },
    { kind, counts }: { kind: string; counts: SharedCounts | null } = { kind: '', counts: null },
  ) {
    this.#clock = clock;
    this.#burst = burst;
    this.#refillMs = refillMs;
    const lower = (name: string, left: number): void => {
      if (left < this.#left(name)) this.#set(name, left);
    };
    this.#others = counts?.follow({ name: kind, burst, refillMs }, lower) ?? null;
  }

  isEmpty(name: string): boolean {
    return this.#left(name) < 1;
  }

  take(name: string): void {
    const left = this.#left(name);
    // Other gateways may have left less than nothing.
    this.#set(name, Math.max(left - 1, Math.min(left, 0)));
    this.#others?.taken(name, 1);
  }

  /** Gives one token back that {@link take} took. */
  giveBack(name: string): void {
    this.#set(name, Math.min(this.#left(name) + 1, this.#burst));
    this.#others?.taken(name, -1);
  }

  refill(name: string): void {
    // One is taken for the attempt that was right.
    const isOwed = this.#left(name) < this.#burst - 1;
    this.#buckets.delete(name);
    this.#others?.forgiven(name, isOwed);
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
