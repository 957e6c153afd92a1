/**
 * Notices while we are registered that the registrar is gone or has forgotten us: it is asked by OPTIONS whether it is
 * there, and where it asks us by itself it is noticed that it no longer does. What is sent also keeps a NAT open.
 */
import type { Clock, Timer } from '../../foundation/clock.ts';

/** Shorter than NATs forget (RFC 5626 §4.4.2 names 29 s for the worst of them on UDP). */
export const KEEPALIVE_MS = 28_000;
/** On UDP a question is sent five times within this. */
export const ANSWER_TIMEOUT_MS = 10_000;
/** The registrar's own questions are missed after so many of its longest intervals. */
const MISSED_INTERVALS = 3;
/** Questions closer together belong to one, and one that comes only now and then says nothing. */
const INTERVAL_MIN_MS = 5000;
const INTERVAL_MAX_MS = 600_000;

interface WatchOptions {
  readonly clock: Clock;
  /** Asks the registrar whether it is there; `onAnswer` is told of any answer. */
  ask(onAnswer: () => void): void;
  /** Sends a sign of life that wants no answer. */
  ping(): void;
  /** A registrar that has answered before does not answer any more. */
  onSilent(): void;
  /** It has never answered, and is not asked any more. */
  onMute(): void;
  /** It used to ask us, and no longer does. */
  onForgotten(): void;
}

export class RegistrarWatch {
  readonly #options: WatchOptions;
  /** Whether it answers OPTIONS; null = not known yet. */
  #answers: boolean | null = null;
  #keepalive: Timer | null = null;
  #answer: Timer | null = null;
  #askedAtMs: number | null = null;
  #longestMs = 0;
  #missed: Timer | null = null;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Whether it is known to answer nothing, so that only its answers to REGISTER show that it is there. */
  get isMute(): boolean {
    return this.#answers === false;
  }

  /** We are registered, again or for the first time. */
  start(): void {
    this.#keepalive ??= this.#options.clock.every(KEEPALIVE_MS, () => this.#look(), true);
  }

  /** We are not. */
  stop(): void {
    for (const timer of [this.#keepalive, this.#answer, this.#missed]) timer?.cancel();
    this.#keepalive = null;
    this.#answer = null;
    this.#missed = null;
    this.#askedAtMs = null;
    this.#longestMs = 0;
  }

  /** The registrar has asked us whether we are there. */
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
