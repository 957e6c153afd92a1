/** Kysely's dialect for PostgreSQL, whose errors tell a server that is away from one that refuses a query. */
import { type DatabaseConnection, type Driver, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { abortSignal } from './abort.ts';
import { abortablePool } from './abortable-pool.ts';
import { DatabaseAway, describeTrouble, isDatabaseTrouble, reasonOf, stateOf } from './trouble.ts';

/**
 * As {@link PostgresDialect}; a server that is away, stuck or full rejects with {@link DatabaseAway}, and queries end
 * with the signal of their work (abort.ts).
 */
export class TellingPostgresDialect extends PostgresDialect {
  readonly #name: string;

  /** `name` = how errors call the database, e.g. `the database of the records`. */
  constructor({ pool }: { readonly pool: pg.Pool }, name: string) {
    super({ pool: abortablePool(pool) });
    this.#name = name;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const connections = new WeakMap<DatabaseConnection, DatabaseConnection>();
    const tell = <T>(work: Promise<T>): Promise<T> => work.catch((error: unknown) => this.#throwAway(error));
    const plain = (telling: DatabaseConnection): DatabaseConnection => connections.get(telling) ?? telling;
    return {
      init: (...options) => driver.init(...options),
      acquireConnection: async (...options) => {
        const connection = await tell(driver.acquireConnection(...options));
        const telling: DatabaseConnection = {
          executeQuery: (...query) => tell(connection.executeQuery(...query)),
          streamQuery: (...query) => connection.streamQuery(...query),
        };
        connections.set(telling, connection);
        return telling;
      },
      beginTransaction: (telling, settings) => tell(driver.beginTransaction(plain(telling), settings)),
      commitTransaction: (telling) => tell(driver.commitTransaction(plain(telling))),
      rollbackTransaction: (telling) => tell(driver.rollbackTransaction(plain(telling))),
      releaseConnection: (telling) => driver.releaseConnection(plain(telling)),
      destroy: (...options) => driver.destroy(...options),
    };
  }

  #throwAway(error: unknown): never {
    if (error === abortSignal()?.reason || !isDatabaseTrouble(error) || error instanceof DatabaseAway) throw error;
    const message = `${this.#name} cannot be used just now (${describeTrouble(error)})`;
    throw new DatabaseAway(message, reasonOf(error), stateOf(error));
  }
}
