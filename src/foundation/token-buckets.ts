/** Rate limits by token buckets, which refill over time. */

/** A token bucket: the most that it holds, and the time in ms in which it gets one more. */
export interface Rate {
  readonly burst: number;
  readonly refillMs: number;
}

/** `perSecond` tokens a second, and at most `burst` at once. */
export function rateOf({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }): Rate {
  return { burst, refillMs: 1000 / perSecond };
}

/** One bucket, full at first. Its rate may be another one each time. */
export class TokenBucket {
  #left: number;
  #atMs: number;

  constructor(left: number, nowMs: number) {
    this.#left = left;
    this.#atMs = nowMs;
  }

  /** What is in it now; less than nothing where more was taken than there was. */
  left({ burst, refillMs }: Rate, nowMs: number): number {
    return Math.min(burst, this.#left + (nowMs - this.#atMs) / refillMs);
  }

  /** Takes `tokens`, or none and returns false when there are fewer. */
  take(rate: Rate, nowMs: number, tokens = 1): boolean {
    this.set(this.left(rate, nowMs), nowMs);
    if (this.#left < tokens) return false;
    this.#left -= tokens;
    return true;
  }

  /** From now on so many are in it. */
  set(left: number, nowMs: number): void {
    this.#left = left;
    this.#atMs = nowMs;
  }
}

/** A bucket for each of many names, at most `max`: the one that was idle longest is forgotten, and is full again. */
export class TokenBuckets {
  readonly #max: number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(max: number) {
    this.#max = max;
  }

  /** As {@link TokenBucket.left}. */
  left(name: string, rate: Rate, nowMs: number): number {
    return this.#buckets.get(name)?.left(rate, nowMs) ?? rate.burst;
  }

  /** As {@link TokenBucket.take}. */
  take(name: string, rate: Rate, nowMs: number, tokens = 1): boolean {
    return this.#used(name, rate.burst, nowMs).take(rate, nowMs, tokens);
  }

  /** As {@link TokenBucket.set}. */
  set(name: string, left: number, nowMs: number): void {
    this.#used(name, left, nowMs).set(left, nowMs);
  }

  /** It is full again. */
  refill(name: string): void {
    this.#buckets.delete(name);
  }

  #used(name: string, left: number, nowMs: number): TokenBucket {
    const bucket = this.#buckets.get(name) ?? new TokenBucket(left, nowMs);
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#max && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
