/** Notices that there has been no work for a while. */
import type { Clock, Timer } from '../foundation/clock.ts';

interface IdleOptions {
  readonly clock: Clock;
  /** Idle time after which the callback is called; 0 = never. */
  readonly idleMs: number;
  /** Whether there is work under way that has not been noted lately. */
  hasWork(): boolean;
  onIdle(): void;
}

/** One timer that looks back when it fires, so that noting work is an assignment and not a new timer. */
export class IdleWatch {
  readonly #options: IdleOptions;
  #lastWorkMs = 0;
  #timer: Timer | null = null;
  #closed = false;

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /** Notes that there was work just now; the watch begins with the first note. */
  note(): void {
    const { clock, idleMs } = this.#options;
    this.#lastWorkMs = clock.nowMs();
    if (this.#timer === null && idleMs > 0 && !this.#closed) this.#lookIn(idleMs);
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
    const leftMs = hasWork() ? idleMs : this.#lastWorkMs + idleMs - clock.nowMs();
    if (leftMs > 0) this.#lookIn(leftMs);
    else onIdle();
  }
}
