/** The SQLite that Node has: https://nodejs.org/api/sqlite.html */
import type { PreparedStatement, SqliteConnection, SqliteDriver } from './sqlite-driver.ts';
import type { SqliteResult, SqliteValue } from './sqlite-messages.ts';

/** What is used of it. The types of the oldest Node that we support do not have it. */
interface SqliteModule {
  readonly DatabaseSync: new (path: string) => Database;
}

interface Database {
  /** Left out before Node 22.16. */
  readonly isTransaction?: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Statement {
  setReadBigInts(isOn: boolean): void;
  all(...values: readonly SqliteValue[]): Record<string, SqliteValue>[];
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
}

const HAS_FTS5 = "SELECT sqlite_compileoption_used('ENABLE_FTS5') AS has";

/** Null = this Node has none, or none with full-text search and `isTransaction`: those are in 22.16 and later. */
export function nativeSqlite(): SqliteDriver | null {
  const sqlite = loadQuietly();
  if (sqlite === undefined) return null;
  const database = new sqlite.DatabaseSync(':memory:');
  try {
    if (database.isTransaction === undefined || database.prepare(HAS_FTS5).all()[0]?.['has'] !== 1) return null;
  } finally {
    database.close();
  }
  return { hasSystemLocks: true, open: (path) => new NativeConnection(new sqlite.DatabaseSync(path)) };
}

/** Without the warning that it is experimental; it comes while the module is loaded, and other warnings stay. */
function loadQuietly(): SqliteModule | undefined {
  const { emitWarning } = process;
  const emitOthers = (...warning: Parameters<typeof emitWarning>): void => {
    if (!String(warning[0]).startsWith('SQLite is an experimental feature')) emitWarning.apply(process, warning);
  };
  process.emitWarning = emitOthers as typeof emitWarning;
  try {
    return process.getBuiltinModule('node:sqlite') as SqliteModule | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

class NativeConnection implements SqliteConnection {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction === true;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): PreparedStatement {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    return {
      all: (values) => withNumbers(statement.all(...values.map(toBind))),
      run: (values) => Number(statement.run(...values.map(toBind)).changes),
      // Node does that when it forgets the statement, or closes the database.
      finalize: () => undefined,
    };
  }

  close(): void {
    this.#database.close();
  }
}

/** Node stores numbers as reals unless they are bigints. */
function toBind(value: SqliteValue): SqliteValue {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** Changes the rows. Node would refuse to read what a number cannot hold. */
function withNumbers(rows: Record<string, SqliteValue>[]): SqliteResult['rows'] {
  for (const row of rows) {
    for (const name in row) {
      const value = row[name];
      if (typeof value !== 'bigint') continue;
      const number = Number(value);
      if (Number.isSafeInteger(number)) row[name] = number;
    }
  }
  return rows;
}
