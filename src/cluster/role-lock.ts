/** What one gateway leads: a lock for each role on the connection of its heartbeat. */
import type { Leadership, LeadHandlers } from '../foundation/leadership.ts';
import type { ClusterSession } from './cluster-session.ts';

/** Of our locks for roles, beside those of other programs in the same database. */
const LOCK_CLASS = 721_438;

const NAME = (role: string): string => `cluster:lead:${role}`;

interface RoleOptions {
  readonly role: string;
  readonly me: string;
  readonly session: ClusterSession;
  readonly handlers: LeadHandlers;
}

/**
 * One role. A connection that breaks takes the lock with it, though the gateway lives: so the last leader is noted, and
 * nobody takes its place while it lives.
 */
export class RoleLock implements Leadership {
  readonly #options: RoleOptions;
  #isLeading = false;
  /** The lock is held on the connection that is open. */
  #isHeld = false;
  #isResigned = false;

  constructor(options: RoleOptions) {
    this.#options = options;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** The connection broke: the lock is gone, and this gateway leads until another one does. */
  forget(): void {
    this.#isHeld = false;
  }

  /**
   * Takes the lock if that is possible. `living` = ids of the gateways that were heard of lately; null = this one
   * cannot tell yet, and takes no other's place.
   * @throws the error of the database
   */
  async seek(living: ReadonlySet<string> | null): Promise<void> {
    if (this.#isResigned || this.#isHeld) return;
    const { session, role, me, handlers } = this.#options;
    const rows = await session.query<{ value: string }>('SELECT value FROM meta WHERE name = $1', [NAME(role)]);
    const last = rows[0]?.value ?? me;
    const isFree = last === me || living?.has(last) === false;
    if (isFree && (await this.#take())) {
      await session.query(
        'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [NAME(role), me],
      );
      if (!this.#isLeading && !this.#isResigned) {
        this.#isLeading = true;
        handlers.onLead();
      }
    } else this.lose();
  }

  /** Another leads, or this gateway is dead. */
  lose(): void {
    if (!this.#isLeading) return;
    this.#isLeading = false;
    this.#options.handlers.onLost();
  }

  async resign(): Promise<void> {
    if (this.#isResigned) return;
    this.#isResigned = true;
    this.#isLeading = false;
    const { session, role, me } = this.#options;
    try {
      await session.query('DELETE FROM meta WHERE name = $1 AND value = $2', [NAME(role), me]);
      if (this.#isHeld) await session.query('SELECT pg_advisory_unlock($1, hashtext($2))', [LOCK_CLASS, role]);
    } catch {
      // The connection broke, and the lock went with it.
    }
    this.#isHeld = false;
  }

  async #take(): Promise<boolean> {
    const { session, role } = this.#options;
    const rows = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS taken', [
      LOCK_CLASS,
      role,
    ]);
    this.#isHeld = rows[0]?.taken === true;
    return this.#isHeld;
  }
}
