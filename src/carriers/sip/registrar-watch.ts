/**
 * Detects, while we are registered, that the registrar is unavailable or has lost our registration. We send it OPTIONS
 * and expect answers; if it sends OPTIONS to us, we notice when it stops. Our packets also keep a NAT open.
 */
import type { Clock, Timer } from '../../foundation/clock.ts';

/** Shorter than NATs forget (RFC 5626 §4.4.2 names 29 s for the worst of them on UDP). */
export const KEEPALIVE_MS = 28_000;
/** On UDP a request is sent five times within this. */
export const ANSWER_TIMEOUT_MS = 10_000;
/** The registrar has stopped sending OPTIONS if none came for this many times its longest interval. */
const MISSED_INTERVALS = 3;
/** OPTIONS that are closer together count as one; longer intervals are cut to the maximum. */
const INTERVAL_MIN_MS = 5000;
const INTERVAL_MAX_MS = 600_000;

interface WatchOptions {
  readonly clock: Clock;
  /** Asks the registrar whether it is available; any answer calls `onAnswer`. */
  ask(onAnswer: () => void): void;
  /** Sends a keep-alive that needs no answer. */
  ping(): void;
  /** The registrar has answered before and no longer does. */
  onSilent(): void;
  /** The registrar has never answered and is not asked any more. */
  onMute(): void;
  /** The registrar used to send us OPTIONS and no longer does. */
  onForgotten(): void;
}

export class RegistrarWatch {
  readonly #options: WatchOptions;
  /** Whether the registrar answers OPTIONS; null = not known yet. */
  #answers: boolean | null = null;
  #keepalive: Timer | null = null;
  #answer: Timer | null = null;
  #askedAtMs: number | null = null;
  #longestMs = 0;
  #missed: Timer | null = null;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Whether the registrar does not answer OPTIONS, so that only REGISTER shows whether it is available. */
  get isMute(): boolean {
    return this.#answers === false;
  }

  /** We are registered, again or for the first time. */
  start(): void {
    this.#keepalive ??= this.#options.clock.every(KEEPALIVE_MS, () => this.#look(), true);
  }

  /** We are no longer registered. */
  stop(): void {
    for (const timer of [this.#keepalive, this.#answer, this.#missed]) timer?.cancel();
    this.#keepalive = null;
    this.#answer = null;
    this.#missed = null;
    this.#askedAtMs = null;
    this.#longestMs = 0;
  }

  /** The registrar has asked us whether we are available. */
  asked(): void {
    if (this.#keepalive === null) return;
    const { clock, onForgotten } = this.#options;
    const nowMs = clock.nowMs();
    const intervalMs = this.#askedAtMs === null ? 0 : nowMs - this.#askedAtMs;
    this.#askedAtMs = nowMs;
    if (intervalMs < INTERVAL_MIN_MS) return;
    this.#longestMs = Math.max(this.#longestMs, Math.min(intervalMs, INTERVAL_MAX_MS));
    this.#missed?.cancel();
    this.#missed = clock.after(
      this.#longestMs * MISSED_INTERVALS,
      () => {
        this.#askedAtMs = null;
        this.#longestMs = 0;
        onForgotten();
      },
      true,
    );
  }

  #look(): void {
    if (this.#answers === false) {
      this.#options.ping();
      return;
    }
    if (this.#answer !== null) return;
    const waiting = this.#options.clock.after(ANSWER_TIMEOUT_MS, () => this.#missAnswer(), true);
    this.#answer = waiting;
    this.#options.ask(() => {
      if (this.#answer !== waiting) return;
      waiting.cancel();
      this.#answer = null;
      this.#answers = true;
    });
  }

  #missAnswer(): void {
    this.#answer = null;
    if (this.#answers === true) {
      this.#options.onSilent();
      return;
    }
    this.#answers = false;
    this.#options.onMute();
  }
}
