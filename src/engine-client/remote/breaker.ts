import type { Clock } from '../../foundation/clock.ts';

/** Failures in a row that open it. */
const FAILURES_IN_A_ROW = 3;
/** It opens as well when so many of the last answers, or half of them at least, were failures. */
const REMEMBERED = 20;
const FAILED_SHARE = 0.5;
/** An open one lets one request through in this time, to see whether the server is back. */
export const PROBE_MS = 2000;

/** Keeps requests from a server that fails them, until one that is let through now and then is answered. */
export class Breaker {
  readonly #clock: Clock;
  readonly #onChange: (isOpen: boolean) => void;
  /** Whether each of the last answers was a failure. */
  #recent: boolean[] = [];
  /** When an open one lets the next request through; null = it is closed. */
  #probeAtMs: number | null = null;
  /** A request was let through, and has not failed yet. */
  #isProbed = false;

  /** @param onChange is told when it opens and when it closes */
  constructor(clock: Clock, onChange: (isOpen: boolean) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#probeAtMs !== null;
  }

  /** `half_open` = a request tries whether the server is back, or the next one may. */
  get state(): 'closed' | 'open' | 'half_open' {
    if (!this.isOpen) return 'closed';
    return this.#isProbed || this.admits ? 'half_open' : 'open';
  }

  /** Whether a request may be sent now. */
  get admits(): boolean {
    return this.#probeAtMs === null || this.#clock.nowMs() >= this.#probeAtMs;
  }

  /** A request is sent: with an open one the next may follow only after {@link PROBE_MS}. */
  begin(): void {
    if (this.#probeAtMs === null) return;
    this.#probeAtMs = this.#clock.nowMs() + PROBE_MS;
    this.#isProbed = true;
  }

  /** A request was answered. */
  succeed(): void {
    if (this.#probeAtMs === null) {
      this.#remember(false);
      return;
    }
    this.#probeAtMs = null;
    this.#isProbed = false;
    this.#recent = [];
    this.#onChange(false);
  }

  /** A request failed, or was not answered in time. */
  fail(): void {
    this.#isProbed = false;
    if (this.#probeAtMs !== null) return;
    this.#remember(true);
    const last = this.#recent.slice(-FAILURES_IN_A_ROW);
    const isDown = last.length === FAILURES_IN_A_ROW && last.every((failed) => failed);
    const failures = this.#recent.filter((failed) => failed).length;
    if (!isDown && failures < REMEMBERED * FAILED_SHARE) return;
    this.#probeAtMs = this.#clock.nowMs() + PROBE_MS;
    this.#onChange(true);
  }

  #remember(failed: boolean): void {
    this.#recent.push(failed);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
  }
}
