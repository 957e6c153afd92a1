/** Ends a session whose client has gone silent. */
import type { Clock, Timer } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';

interface IdleOptions {
  readonly clock: Clock;
  /** MEDIA_TIMEOUT_MS, or what the protocol says. */
  readonly timeoutMs: number;
  /** Called once, with `media_timeout`. */
  onIdle(error: TrunklineError): void;
}

/** Begins to wait at once. */
export class IdleWatch {
  readonly #options: IdleOptions;
  #timer: Timer;

  constructor(options: IdleOptions) {
    this.#options = options;
    this.#timer = this.#wait();
  }

  /** Something came. */
  note(): void {
    this.#timer.cancel();
    this.#timer = this.#wait();
  }

  /** The session is over. */
  close(): void {
    this.#timer.cancel();
  }

  #wait(): Timer {
    const { clock, timeoutMs, onIdle } = this.#options;
    const error = new TrunklineError('media_timeout', `no message came for ${timeoutMs} ms`);
    return clock.after(timeoutMs, () => onIdle(error), true);
  }
}
