import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** A session as it is kept: the keyed hash of its id, whose it is (JSON), and its end, in ms since 1970. */
export interface StoredSession {
  readonly hash: string;
  readonly principal: string;
  readonly expiresMs: number;
}

const SECRET_NAME = 'session_secret';
const SECRET_BYTES = 32;

/** The sessions in the records' database, so that nobody signs in again after a restart. */
export class StoredSessions {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The key of the sessions' hashes: made at the first call, then always the same. */
  async secret(): Promise<Buffer> {
    const value = randomBytes(SECRET_BYTES).toString('base64url');
    await this.#db
      .insertInto('meta')
      .values({ name: SECRET_NAME, value })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    const row = await this.#db
      .selectFrom('meta')
      .select('value')
      .where('name', '=', SECRET_NAME)
      .executeTakeFirstOrThrow();
    return Buffer.from(row.value, 'base64url');
  }

  /** Removes what has expired by `nowMs`, and returns the others, the oldest first. */
  async load(nowMs: number): Promise<StoredSession[]> {
    await this.#db.deleteFrom('sessions').where('expires_ms', '<=', nowMs).execute();
    const rows = await this.#db.selectFrom('sessions').selectAll().orderBy('expires_ms').execute();
    return rows.map(({ hash, principal, expires_ms }) => ({ hash, principal, expiresMs: expires_ms }));
  }

  /** Told again, nothing changes. */
  async add({ hash, principal, expiresMs }: StoredSession): Promise<void> {
    await this.#db
      .insertInto('sessions')
      .values({ hash, principal, expires_ms: expiresMs })
      .onConflict((conflict) => conflict.column('hash').doNothing())
      .execute();
  }

  async remove(hashes: readonly string[]): Promise<void> {
    if (hashes.length > 0)
      await this.#db
        .deleteFrom('sessions')
        .where('hash', 'in', [...hashes])
        .execute();
  }
}
