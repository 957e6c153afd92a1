/** Notices that there has been no work for a while. */
import type { Clock, Timer } from '../foundation/clock.ts';

/** How often it looks while there is work, so that the time without begins when that ended. */
const LOOK_MS = 10_000;

/** Idle times are at most so many times what was asked for. */
const TIMES_MAX = 4;

interface IdleOptions {
  readonly clock: Clock;
  /** Idle time after which the callback is called; 0 = never. */
  readonly idleMs: number;
  /** Whether there is work under way that has not been noted lately. */
  hasWork(): boolean;
  onIdle(): void;
}

/**
 * One timer that looks back when it fires, so that noting work is an assignment and not a new timer. Where work came
 * again within `idleMs` of the callback, more of it is likely to come so soon: the time doubles, up to
 * {@link TIMES_MAX} times, until work stays away for longer.
 */
export class IdleWatch {
  readonly #options: IdleOptions;
  #lastWorkMs = 0;
  #timer: Timer | null = null;
  #closed = false;
  /** When the callback was called and no work has come since. */
  #idleSinceMs: number | null = null;
  #times = 1;

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /** Notes that there was work just now; the watch begins with the first note. */
  note(): void {
    const { clock, idleMs } = this.#options;
    this.#lastWorkMs = clock.nowMs();
    if (this.#idleSinceMs !== null) {
      const isSoon = this.#lastWorkMs - this.#idleSinceMs < idleMs;
      this.#times = isSoon ? Math.min(2 * this.#times, TIMES_MAX) : 1;
      this.#idleSinceMs = null;
    }
    if (this.#timer === null && idleMs > 0 && !this.#closed) this.#lookIn(this.#times * idleMs);
  }

  /** Never fires again. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #lookIn(delayMs: number): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#look(), true);
  }

  #look(): void {
    const { clock, idleMs, hasWork, onIdle } = this.#options;
    this.#timer = null;
    const nowMs = clock.nowMs();
    if (hasWork()) {
      this.#lastWorkMs = nowMs;
      this.#lookIn(Math.min(idleMs, LOOK_MS));
      return;
    }
    const leftMs = this.#lastWorkMs + this.#times * idleMs - nowMs;
    if (leftMs > 0) {
      this.#lookIn(leftMs);
      return;
    }
    this.#idleSinceMs = nowMs;
    onIdle();
  }
}
