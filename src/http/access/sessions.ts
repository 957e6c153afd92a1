import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../foundation/clock.ts';

/** How long a browser stays signed in. */
export const SESSION_LIFE_MS = 12 * 3_600_000;
/** Browsers signed in at once with one key. One more ends the oldest session of that key, and no other. */
const SESSIONS_MAX = 1000;
const ID_BYTES = 32;

interface Session {
  /** The tenant of the key that opened it. */
  readonly tenant: string;
  readonly expiresAtMs: number;
}

/**
 * The sessions of browsers that signed in with a key. A session is a random 256-bit id that only the browser has. The
 * server keeps its keyed hash, so the time of a look-up reveals nothing, and an ended session is gone. All sessions end
 * with the process.
 */
export class Sessions {
  readonly #clock: Clock;
  readonly #secret = randomBytes(ID_BYTES);
  /** By keyed hash, oldest first. */
  readonly #open = new Map<string, Session>();

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  /** A new session of `tenant`; returns its id (URL-safe text). */
  open(tenant: string): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.#forgetExpired();
    const [oldest, ...others] = [...this.#open].filter(([, session]) => session.tenant === tenant);
    if (oldest !== undefined && others.length + 1 >= SESSIONS_MAX) this.#open.delete(oldest[0]);
    this.#open.set(this.#hash(id), { tenant, expiresAtMs: this.#clock.nowMs() + SESSION_LIFE_MS });
    return id;
  }

  /** The tenant of session `id`; null when it is unknown, has expired or has ended. */
  tenantOf(id: string): string | null {
    const session = this.#open.get(this.#hash(id));
    return session !== undefined && session.expiresAtMs > this.#clock.nowMs() ? session.tenant : null;
  }

  /** Ends a session; unknown ones are ignored. */
  end(id: string): void {
    this.#open.delete(this.#hash(id));
  }

  #forgetExpired(): void {
    for (const [oldest, { expiresAtMs }] of this.#open) {
      if (expiresAtMs > this.#clock.nowMs()) return;
      this.#open.delete(oldest);
    }
  }

  #hash(id: string): string {
    return createHmac('sha256', this.#secret).update(id).digest('base64');
  }
}
