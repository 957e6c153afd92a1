import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../foundation/clock.ts';
import type { SessionStore } from '../../records/users/people.ts';
import type { StoredSession } from '../../records/users/stored-sessions.ts';
import { dropOldest } from './drop-oldest.ts';
import { type Proof, storedProof, subjectOf } from './identities.ts';

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
  /** When it was last asked for, by the clock. */
  usedMs: number;
  /** Whether the store has it. */
  isStored: boolean;
}

interface SessionsOptions {
  readonly clock: Clock;
  readonly onStoreFailed: (error: unknown) => void;
  /** Other gateways open and end sessions of the same store: memory has those alone that are in use here. */
  readonly isShared?: boolean;
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
  /** Hashes of sessions that ended here and that the store may still have, the latest last. */
  readonly #ended = new Set<string>();
  /** The store's changes, one after the other. */
  #writes: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Takes up the sessions of `store`, and keeps new ones there. @throws the store's error */
  async restore(store: SessionStore): Promise<void> {
    this.#secret = await store.secret();
    if (this.#options.isShared !== true) for (const stored of await store.load(this.#nowMs())) this.adopt(stored);
    this.#store = store;
  }

  /** Takes up a session that is stored, unless it has ended here. */
  adopt({ hash, principal, expiresMs }: StoredSession): void {
    const proof = proofIn(principal);
    if (proof === null || this.#ended.has(hash)) return;
    this.#open.set(hash, { proof, expiresMs, usedMs: this.#options.clock.nowMs(), isStored: true });
  }

  /** Under which it is stored. */
  hashOf(id: string): string {
    return this.#hash(id);
  }

  /** Whether a session with this hash is in memory, or has ended here. */
  knows(hash: string): boolean {
    return this.#open.has(hash) || this.#ended.has(hash);
  }

  /**
   * The hashes of stored sessions in memory that somebody has asked for since `sinceMs`, by the clock, and of the
   * others.
   */
  byUse(sinceMs: number): { readonly used: string[]; readonly idle: string[] } {
    const all = [...this.#open].flatMap(([hash, { isStored }]) => (isStored ? [hash] : []));
    const isUsed = (hash: string): boolean => (this.#open.get(hash)?.usedMs ?? 0) >= sinceMs;
    return { used: all.filter(isUsed), idle: all.filter((hash) => !isUsed(hash)) };
  }

  /** Takes sessions out of memory; the store keeps them, or has ended them. */
  forget(hashes: readonly string[]): void {
    for (const hash of hashes) this.#open.delete(hash);
  }

  /** Has the store know what it could not be told before. @throws the error of the database */
  async catchUp(): Promise<void> {
    const store = this.#store;
    if (store === null) return;
    for (const [hash, session] of this.#open) if (!session.isStored) await this.#storeOne(store, hash, session);
    await this.#endStoredOnes(store);
  }

  async #storeOne(store: SessionStore, hash: string, session: Session): Promise<void> {
    await store.add({ hash, principal: JSON.stringify(session.proof), expiresMs: session.expiresMs });
    session.isStored = true;
  }

  async #endStoredOnes(store: SessionStore): Promise<void> {
    const hashes = [...this.#ended];
    if (hashes.length > 0) await store.remove(hashes);
    for (const hash of hashes) this.#ended.delete(hash);
  }

  /** A new session of who gave `proof`; returns its id (URL-safe text). */
  open(proof: Proof): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.#forgetExpired();
    const [oldest, ...others] = this.#sessionsOf(subjectOf(proof));
    if (oldest !== undefined && others.length + 1 >= SESSIONS_MAX) void this.#remove([oldest]);
    const session = {
      proof,
      expiresMs: this.#nowMs() + SESSION_LIFE_MS,
      usedMs: this.#options.clock.nowMs(),
      isStored: false,
    };
    const hash = this.#hash(id);
    this.#open.set(hash, session);
    void this.#keep((store) => this.#storeOne(store, hash, session));
    return id;
  }

  /** What whoever has session `id` proved; null when it is unknown, has expired or has ended. */
  proofOf(id: string): Proof | null {
    const session = this.#open.get(this.#hash(id));
    if (session === undefined || session.expiresMs <= this.#nowMs()) return null;
    session.usedMs = this.#options.clock.nowMs();
    return session.proof;
  }

  /** Ends a session; unknown ones are ignored. Resolves when it will not come back after a crash either. */
  end(id: string): Promise<void> {
    return this.#remove([this.#hash(id)]);
  }

  /** Ends all sessions of the same key or name. */
  async endAll(proof: Proof): Promise<void> {
    await this.#remove(this.#sessionsOf(subjectOf(proof)));
    if (this.#options.isShared === true) await this.#endStored(subjectOf(proof));
  }

  /** Also those that other gateways have opened. */
  #endStored(subject: string): Promise<void> {
    return this.#keep(async (store) => {
      const all = await store.load(this.#nowMs());
      const theirs = all.filter(({ principal }) => subject === subjectOf(proofIn(principal) ?? { kind: 'nobody' }));
      await store.remove(theirs.map(({ hash }) => hash));
    });
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
    if (known.length === 0) return Promise.resolve();
    if (this.#options.isShared !== true) return this.#keep((store) => store.remove(known));
    for (const hash of known) this.#ended.add(hash);
    dropOldest(this.#ended);
    return this.#keep((store) => this.#endStoredOnes(store));
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
