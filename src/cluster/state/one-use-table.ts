/** The table `one_use`: what any gateway may take, once. */

import { createHash } from 'node:crypto';
import type { OneUseKind, OneUseStore, UsedKeys } from '../../calls/admission/shared-one-use.ts';
import type { Clock } from '../../foundation/clock.ts';
import { POSTGRES_NOW_MS } from '../../foundation/database/postgres-time.ts';
import type { StateDatabase } from './state-database.ts';

/** How often what has expired is removed, at most: when something is put. */
const CLEAN_PERIOD_MS = 60_000;

interface TableOptions {
  readonly database: Pick<StateDatabase, 'query'>;
  readonly clock: Clock;
}

/** Keys are stored as hashes, so that whoever reads the table can use none of them. Times are the database's. */
export class OneUseTable implements OneUseStore, UsedKeys {
  readonly #options: TableOptions;
  #cleanedAtMs: number;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#cleanedAtMs = options.clock.nowMs();
  }

  /** Keeps each item. @throws the error of the database */
  async put(kind: OneUseKind, items: Parameters<OneUseStore['put']>[1]): Promise<void> {
    await this.#options.database.query(
      `INSERT INTO one_use (kind, key_hash, content, expires_ms)
      SELECT $1, item.key_hash, item.content, ${POSTGRES_NOW_MS} + item.life_ms
      FROM unnest($2::text[], $3::text[], $4::bigint[]) AS item(key_hash, content, life_ms)
      ON CONFLICT (kind, key_hash) DO UPDATE SET content = excluded.content, expires_ms = excluded.expires_ms`,
      [
        kind,
        items.map(({ key }) => hashOf(key)),
        items.map(({ content }) => content),
        items.map(({ lifeMs }) => Math.ceil(lifeMs)),
      ],
    );
    await this.#clean();
  }

  /** Takes one item. @throws the error of the database */
  async take(kind: OneUseKind, key: string): Promise<string | null> {
    const [row] = await this.#options.database.query<{ content: string; is_good: boolean }>(
      `DELETE FROM one_use WHERE kind = $1 AND key_hash = $2
      RETURNING content, expires_ms > ${POSTGRES_NOW_MS} AS is_good`,
      [kind, hashOf(key)],
    );
    return row?.is_good === true ? row.content : null;
  }

  /** {@link UsedKeys.claim}. @throws the error of the database */
  async claim(kind: Parameters<UsedKeys['claim']>[0], key: string, lifeMs: number): Promise<boolean> {
    const rows = await this.#options.database.query(
      `INSERT INTO one_use AS used (kind, key_hash, content, expires_ms)
      VALUES ($1, $2, '', ${POSTGRES_NOW_MS} + $3::bigint)
      ON CONFLICT (kind, key_hash) DO UPDATE SET expires_ms = excluded.expires_ms
      WHERE used.expires_ms <= ${POSTGRES_NOW_MS} RETURNING kind`,
      [kind, hashOf(key), Math.ceil(lifeMs)],
    );
    await this.#clean();
    return rows.length > 0;
  }

  /** Forgets items; those that are gone do no harm. @throws the error of the database */
  async drop(kind: OneUseKind, keys: readonly string[]): Promise<void> {
    await this.#options.database.query('DELETE FROM one_use WHERE kind = $1 AND key_hash = ANY ($2::text[])', [
      kind,
      keys.map(hashOf),
    ]);
  }

  async #clean(): Promise<void> {
    const { clock, database } = this.#options;
    if (clock.nowMs() - this.#cleanedAtMs < CLEAN_PERIOD_MS) return;
    this.#cleanedAtMs = clock.nowMs();
    await database.query(`DELETE FROM one_use WHERE expires_ms <= ${POSTGRES_NOW_MS}`, []);
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
