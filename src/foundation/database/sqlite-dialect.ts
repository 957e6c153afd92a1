/** A Kysely dialect for a SQLite database on a thread: https://kysely.dev/docs/dialects */
import {
  CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqliteLane, SqliteValue } from './sqlite-messages.ts';
import type { SqliteThread } from './sqlite-thread.ts';

type StatementRunner = Pick<SqliteThread, 'run'>;

/**
 * Runs queries on `thread`. In the lane `write` the one connection is given to one query or transaction after the
 * other. In the lane `read` queries wait for the writes, and there are no transactions.
 */
export class SqliteThreadDialect implements Dialect {
  readonly #thread: StatementRunner;
  readonly #lane: SqliteLane;

  constructor(thread: StatementRunner, lane: SqliteLane) {
    this.#thread = thread;
    this.#lane = lane;
  }

  createDriver(): Driver {
    return this.#lane === 'write' ? new WriteDriver(this.#thread) : new ReadDriver(this.#thread);
  }

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new TransactionalAdapter();
  }

  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own type
  createIntrospector(database: Kysely<any>): DatabaseIntrospector {
    return new SqliteIntrospector(database);
  }
}

/** SQLite changes the schema inside transactions, so that a migration is done as a whole or not at all. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #thread: StatementRunner;
  readonly #lane: SqliteLane;

  constructor(thread: StatementRunner, lane: SqliteLane) {
    this.#thread = thread;
    this.#lane = lane;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.#thread.run(this.#lane, { sql, values: parameters.map(toSqlite) });
    return { rows: rows as unknown as R[], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: there is nothing to give
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('this database does not stream: read page by page');
  }
}

/** A parameter of a Kysely query as SQLite takes it. */
export function toSqlite(value: unknown): SqliteValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return (value ?? null) as SqliteValue;
}

class ReadDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(thread: StatementRunner) {
    this.#connection = new ThreadConnection(thread, 'read');
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw new Error('the lane of reads has no transactions');
  }

  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

class WriteDriver implements Driver {
  readonly #connection: DatabaseConnection;
  /** Resolves when whoever has the connection gives it back. */
  #last: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  constructor(thread: StatementRunner) {
    this.#connection = new ThreadConnection(thread, 'write');
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#last;
    let release: () => void = () => undefined;
    this.#last = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    this.#release = release;
    return this.#connection;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('BEGIN IMMEDIATE'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('COMMIT'));
  }

  /** After some errors, such as a full disk, SQLite has rolled back by itself. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('ROLLBACK')).catch((error: Error) => {
      if (!error.message.includes('no transaction is active')) throw error;
    });
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async destroy(): Promise<void> {}
}
