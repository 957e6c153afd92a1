import type { Clock, Timer } from '../../foundation/clock.ts';
import { EngineError } from '../engine.ts';

/** A server that wanted to be left alone is tried again after this time at most. */
const LOOK_AGAIN_MS = 500;

/** Pieces of recordings that wait for a server, the oldest first. */
export class BatchTurns {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * What `begin` gives, as soon as that is something, or null when it is of no use to wait.
   * @param begin takes the place that it finds before it returns
   * @param hasHope whether there may be a place later
   * @throws EngineError `cancelled` when `signal` is aborted
   */
  async wait<T>(begin: () => T | null, hasHope: () => boolean, signal: AbortSignal | undefined): Promise<T | null> {
    for (;;) {
      if (signal?.aborted) throw new EngineError('cancelled', 'the job was cancelled before it was sent');
      const found = begin();
      if (found !== null || this.#isClosed || !hasHope()) return found;
      await this.#turn(signal);
    }
  }

  /** Something may have changed: whoever waits looks again. */
  next(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    this.#timer?.cancel();
    this.#timer = null;
    for (const wake of woken) wake();
  }

  /** Nobody waits any longer. */
  close(): void {
    this.#isClosed = true;
    this.next();
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      signal?.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
      this.#timer ??= this.#clock.after(LOOK_AGAIN_MS, () => this.next());
    });
  }
}
