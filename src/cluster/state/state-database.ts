/** Connections for what the gateways share from moment to moment, on which nobody waits behind a search. */
import type pg from 'pg';
import { openPool } from '../../foundation/database/postgres.ts';

/** Beside those of the records. */
const CONNECTIONS = 2;
/** Longer than anybody waits for an answer. */
const LIMIT_MS = 2000;

/** The database of a cluster, asked in short. */
export class StateDatabase {
  readonly #pool: pg.Pool;

  /** Nothing is connected before the first query. `url` = DATABASE_URL; a pooler in between does no harm. */
  constructor(url: string) {
    this.#pool = openPool(url, { connectionsMax: CONNECTIONS, limitMs: LIMIT_MS });
  }

  /** The rows of one statement. @throws the error of the database, after 2 s where it does not answer */
  async query<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.#pool.query(text, [...values]);
    return rows as readonly Row[];
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await this.#pool.end().catch(() => undefined);
  }
}
