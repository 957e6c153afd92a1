/**
 * What to log while a connection is down: each reason once, in whatever order they come, and a reminder now and then.
 */
import type { Clock } from '../../../foundation/clock.ts';

const REMIND_MS = 600_000;
/** Reasons come from the other side: no more than these are told or kept. */
const REASONS_MAX = 8;

/** How an outage went. */
export interface OutageSummary {
  readonly attempts: number;
  readonly lastedMs: number;
  /** In the order in which they first came. */
  readonly reasons: readonly string[];
}

/** The outages of one connection. At first there is none. */
export class Outage {
  readonly #clock: Clock;
  readonly #reasons = new Set<string>();
  #attempts = 0;
  #sinceMs = 0;
  #toldMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * It broke, or another connection attempt failed. `new`: this outage did not have the reason before. `reminder`:
   * nothing was told for ten minutes.
   */
  failed(reason: string): 'new' | 'reminder' | 'known' {
    const nowMs = this.#clock.nowMs();
    if (this.#attempts === 0) this.#sinceMs = nowMs;
    this.#attempts++;
    const isNew = !this.#reasons.has(reason) && this.#reasons.size < REASONS_MAX;
    if (!isNew && nowMs - this.#toldMs < REMIND_MS) return 'known';
    this.#toldMs = nowMs;
    if (!isNew) return 'reminder';
    this.#reasons.add(reason);
    return 'new';
  }

  /** So far. */
  get summary(): OutageSummary {
    const lastedMs = this.#attempts === 0 ? 0 : Math.round(this.#clock.nowMs() - this.#sinceMs);
    return { attempts: this.#attempts, lastedMs, reasons: [...this.#reasons] };
  }

  /** It is there again. Returns what the outage was; null when there was none. */
  over(): OutageSummary | null {
    const { summary } = this;
    this.#attempts = 0;
    this.#reasons.clear();
    return summary.attempts === 0 ? null : summary;
  }
}
