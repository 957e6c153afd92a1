/** Sessions of browsers that any gateway may have opened or ended. */
import type { StoredSession } from '../../records/users/stored-sessions.ts';
import type { StateDatabase } from './state-database.ts';

/** The sessions in the table `sessions`, asked one by one. */
export class SharedSessions {
  readonly #database: Pick<StateDatabase, 'query'>;

  constructor(database: Pick<StateDatabase, 'query'>) {
    this.#database = database;
  }

  /** The session whose id has this hash; null = it has ended, or there was none. @throws the error of the database */
  async find(hash: string): Promise<StoredSession | null> {
    const [row] = await this.#database.query<{ principal: string; expires_ms: number }>(
      'SELECT principal, expires_ms FROM sessions WHERE hash = $1',
      [hash],
    );
    return row === undefined ? null : { hash, principal: row.principal, expiresMs: row.expires_ms };
  }

  /** Those of `hashes` that have not ended. @throws the error of the database */
  async living(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database.query<{ hash: string }>(
      'SELECT hash FROM sessions WHERE hash = ANY ($1::text[])',
      [hashes],
    );
    return new Set(rows.map(({ hash }) => hash));
  }
}
