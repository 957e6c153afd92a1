/** SQLite in WebAssembly, for a Node without a SQLite that we can use. Its locks are folders of its own. */
import sqlite from 'node-sqlite3-wasm';
import type { PreparedStatement, SqliteConnection, SqliteDriver } from './sqlite-driver.ts';
import type { SqliteResult } from './sqlite-messages.ts';

/** Works in every Node. */
export const WASM_SQLITE: SqliteDriver = { hasSystemLocks: false, open: (path) => new WasmConnection(path) };

class WasmConnection implements SqliteConnection {
  readonly #database: sqlite.Database;

  constructor(path: string) {
    this.#database = new sqlite.Database(path);
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): PreparedStatement {
    const statement = this.#database.prepare(sql);
    return {
      all: (values) => statement.all([...values]) as SqliteResult['rows'],
      run: (values) => statement.run([...values]).changes,
      finalize: () => finalize(statement),
    };
  }

  close(): void {
    this.#database.close();
  }
}

/** Throws the error of the statement's last run again, which was told already. */
function finalize(statement: sqlite.Statement): void {
  try {
    statement.finalize();
  } catch {
    // The statement is gone all the same.
  }
}
