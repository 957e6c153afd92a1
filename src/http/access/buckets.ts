import type { Clock } from '../../foundation/clock.ts';
import { type Rate, TokenBuckets } from '../../foundation/token-buckets.ts';
import { NAMES_MAX } from './drop-oldest.ts';
import type { CountSink, SharedCounts } from './shared-counts.ts';

/** A token bucket for each of many names, which other gateways may share. */
export class Buckets {
  readonly #clock: Clock;
  readonly #rate: Rate;
  readonly #buckets = new TokenBuckets(NAMES_MAX);
  readonly #others: CountSink | null;

  /** `shared`: other gateways take from the same buckets, by the name `kind`; null = there are none. */
  constructor(
    clock: Clock,
    rate: Rate,
    { kind, counts }: { kind: string; counts: SharedCounts | null } = { kind: '', counts: null },
  ) {
    this.#clock = clock;
    this.#rate = rate;
    const lower = (name: string, left: number): void => {
      if (left < this.#left(name)) this.#set(name, left);
    };
    this.#others = counts?.follow({ name: kind, ...rate }, lower) ?? null;
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
    this.#set(name, Math.min(this.#left(name) + 1, this.#rate.burst));
    this.#others?.taken(name, -1);
  }

  refill(name: string): void {
    // One is taken for the attempt that was right.
    const isOwed = this.#left(name) < this.#rate.burst - 1;
    this.#buckets.refill(name);
    this.#others?.forgiven(name, isOwed);
  }

  #set(name: string, left: number): void {
    this.#buckets.set(name, left, this.#clock.nowMs());
  }

  #left(name: string): number {
    return this.#buckets.left(name, this.#rate, this.#clock.nowMs());
  }
}
