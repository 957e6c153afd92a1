import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** How long a browser stays signed in. */
export const SESSION_LIFE_MS = 12 * 3_600_000;
/** Browsers signed in at once; beyond it the oldest session ends. */
const SESSIONS_MAX = 1000;
const ID_BYTES = 32;

/**
 * The browsers that have shown a key. A session is a random 256-bit id that only the browser holds: here lies its keyed hash, so looking one up
 * tells nothing by its timing, and ending one really ends it. All end with the process.
 */
export class Sessions {
  readonly #clock: Clock;
  readonly #secret = randomBytes(ID_BYTES);
  /** Keyed hash → when it expires; oldest first. */
  readonly #open = new Map<string, number>();

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  /** A new session's id (URL-safe text). */
  open(): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.#open.set(this.#hash(id), this.#clock.nowMs() + SESSION_LIFE_MS);
    for (const [oldest, expiresAtMs] of this.#open) {
      if (this.#open.size <= SESSIONS_MAX && expiresAtMs > this.#clock.nowMs()) break;
      this.#open.delete(oldest);
    }
    return id;
  }

  /** Whether `id` was given out here and has neither expired nor ended. */
  has(id: string): boolean {
    return (this.#open.get(this.#hash(id)) ?? 0) > this.#clock.nowMs();
  }

  /** Ends a session; unknown ones are ignored. */
  end(id: string): void {
    this.#open.delete(this.#hash(id));
  }

  #hash(id: string): string {
    return createHmac('sha256', this.#secret).update(id).digest('base64');
  }
}
