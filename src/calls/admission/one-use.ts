/** Things kept under a key until they are asked for once: bounded in number, and gone after ten minutes. */
import type { Clock } from '../../foundation/clock.ts';

/**
 * How long they are kept, in ms. A carrier is there within seconds of what announces it; a slow one, or a queue in
 * front of it, may take minutes.
 */
export const LIFE_MS = 600_000;

interface OneUseOptions {
  readonly clock: Clock;
  readonly itemsMax: number;
  /** Called with the key of what goes because there is too much. */
  readonly onDropped?: (key: string) => void;
}

/** In the memory of this gateway. */
export class OneUse<V> {
  readonly #clock: Clock;
  readonly #itemsMax: number;
  readonly #onDropped: (key: string) => void;
  /**
   * In the order in which they were put, which is the order of expiry: all live equally long, and no timer runs for
   * that.
   */
  readonly #items = new Map<string, { readonly value: V; readonly expiresAtMs: number }>();

  /** Beyond `itemsMax` the oldest goes, so that a flood cannot fill the memory. */
  constructor(options: OneUseOptions) {
    this.#clock = options.clock;
    this.#itemsMax = options.itemsMax;
    this.#onDropped = options.onDropped ?? (() => undefined);
  }

  /** Keeps `value` in place of what was kept under `key`. */
  put(key: string, value: V): void {
    this.#dropExpired();
    this.#items.delete(key);
    this.#items.set(key, { value, expiresAtMs: this.#clock.nowMs() + LIFE_MS });
    const [oldest] = this.#items.keys();
    if (this.#items.size <= this.#itemsMax || oldest === undefined) return;
    this.#items.delete(oldest);
    this.#onDropped(oldest);
  }

  /** What is kept under `key`, for the only time; null = nothing (any more). */
  take(key: string): V | null {
    this.#dropExpired();
    const item = this.#items.get(key);
    this.#items.delete(key);
    return item?.value ?? null;
  }

  /** Nobody else is to find them. */
  settled(): Promise<void> {
    return Promise.resolve();
  }

  #dropExpired(): void {
    const nowMs = this.#clock.nowMs();
    for (const [key, { expiresAtMs }] of this.#items) {
      if (expiresAtMs > nowMs) return;
      this.#items.delete(key);
    }
  }
}
