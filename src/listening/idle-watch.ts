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
  #notedMs: number;
  /** Looks back, rather than being set anew with each message: thousands may come at once. */
  #timer: Timer;

  constructor(options: IdleOptions) {
    this.#options = options;
    this.#notedMs = options.clock.nowMs();
    this.#timer = this.#waitFor(options.timeoutMs);
  }

  /** Something came. */
  note(): void {
    this.#notedMs = this.#options.clock.nowMs();
  }

  /** The session is over. */
  close(): void {
    this.#timer.cancel();
  }

  #waitFor(delayMs: number): Timer {
    return this.#options.clock.after(delayMs, () => this.#look(), true);
  }

  #look(): void {
    const { clock, timeoutMs, onIdle } = this.#options;
    const leftMs = this.#notedMs + timeoutMs - clock.nowMs();
    if (leftMs > 0) this.#timer = this.#waitFor(leftMs);
    else onIdle(new TrunklineError('media_timeout', `no message came for ${timeoutMs} ms`));
  }
}
