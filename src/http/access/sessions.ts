import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../foundation/clock.ts';
import type { SessionStore } from '../../records/users/people.ts';
import { type Proof, subjectOf } from './identities.ts';

/** How long a browser stays signed in. */
export const SESSION_LIFE_MS = 12 * 3_600_000;
/** Browsers signed in at once with one key or name. One more ends the oldest session of that key, and no other. */
const SESSIONS_MAX = 1000;
const ID_BYTES = 32;
/** Changes that wait for a slow disk. With more, sessions are in memory alone, and end with the process. */
const WAITING_MAX = 1000;

interface Session {
  readonly proof: Proof;
  /** Since 1970. */
  readonly expiresMs: number;
}

const storedProof = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('key'), tenant: z.string() }),
  z.strictObject({ kind: z.literal('user'), name: z.string(), stamp: z.string() }),
]);

interface SessionsOptions {
  readonly clock: Clock;
  readonly onStoreFailed: (error: unknown) => void;
}

/**
 * The sessions of browsers that signed in. A session is a random 256-bit id that only the browser has. The server keeps
 * its keyed hash, so the time of a look-up reveals nothing, and an ended session is gone. Without a store all sessions
 * end with the process.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  #store: SessionStore | null = null;
  #secret: Buffer = randomBytes(ID_BYTES);
  /** By keyed hash, oldest first. */
  readonly #open = new Map<string, Session>();
  /** The store's changes, one after the other. */
  #writes: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Takes up the sessions of `store`, and keeps new ones there. @throws the store's error */
  async restore(store: SessionStore): Promise<void> {
    this.#secret = await store.secret();
    for (const { hash, principal, expiresMs } of await store.load(this.#nowMs())) {
      const proof = proofIn(principal);
      if (proof !== null) this.#open.set(hash, { proof, expiresMs });
    }
    this.#store = store;
  }

  /** A new session of who gave `proof`; returns its id (URL-safe text). */
  open(proof: Proof): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.#forgetExpired();
    const [oldest, ...others] = this.#sessionsOf(subjectOf(proof));
    if (oldest !== undefined && others.length + 1 >= SESSIONS_MAX) void this.#remove([oldest]);
    const session = { proof, expiresMs: this.#nowMs() + SESSION_LIFE_MS };
    const hash = this.#hash(id);
    this.#open.set(hash, session);
    void this.#keep((store) => store.add({ hash, principal: JSON.stringify(proof), expiresMs: session.expiresMs }));
    return id;
  }

  /** What whoever has session `id` proved; null when it is unknown, has expired or has ended. */
  proofOf(id: string): Proof | null {
    const session = this.#open.get(this.#hash(id));
    return session !== undefined && session.expiresMs > this.#nowMs() ? session.proof : null;
  }

  /** Ends a session; unknown ones are ignored. Resolves when it will not come back after a crash either. */
  end(id: string): Promise<void> {
    return this.#remove([this.#hash(id)]);
  }

  /** Ends all sessions of the same key or name. */
  endAll(proof: Proof): Promise<void> {
    return this.#remove(this.#sessionsOf(subjectOf(proof)));
  }

  /** Resolves when the store has all changes. */
  settled(): Promise<void> {
    return this.#writes;
  }

  #nowMs(): number {
    return this.#options.clock.wall().getTime();
  }

  #sessionsOf(subject: string): string[] {
    return [...this.#open].filter(([, { proof }]) => subjectOf(proof) === subject).map(([hash]) => hash);
  }

  #forgetExpired(): void {
    const expired: string[] = [];
    for (const [hash, { expiresMs }] of this.#open) {
      if (expiresMs > this.#nowMs()) break;
      expired.push(hash);
    }
    void this.#remove(expired);
  }

  #remove(hashes: readonly string[]): Promise<void> {
    const known = hashes.filter((hash) => this.#open.delete(hash));
    return known.length === 0 ? Promise.resolve() : this.#keep((store) => store.remove(known));
  }

  async #keep(change: (store: SessionStore) => Promise<void>): Promise<void> {
    const store = this.#store;
    if (store === null || this.#waiting >= WAITING_MAX) return;
    this.#waiting += 1;
    this.#writes = this.#writes
      .then(() => change(store))
      .catch(this.#options.onStoreFailed)
      .finally(() => {
        this.#waiting -= 1;
      });
    await this.#writes;
  }

  #hash(id: string): string {
    return createHmac('sha256', this.#secret).update(id).digest('base64');
  }
}

function proofIn(principal: string): Proof | null {
  try {
    return storedProof.parse(JSON.parse(principal));
  } catch {
    return null;
  }
}
