/** What the thread of a database needs of SQLite, whichever build of it there is. */
import type { SqliteResult, SqliteValue } from './sqlite-messages.ts';

/** A prepared statement. Both methods throw SQLite's own error, whose message is the same in all builds. */
export interface PreparedStatement {
  /** Whole numbers are numbers, and bigints beyond 2^53. */
  all(values: readonly SqliteValue[]): SqliteResult['rows'];
  /** Returns how many rows were changed. */
  run(values: readonly SqliteValue[]): number;
  /** Never throws. */
  finalize(): void;
}

/** One connection to a database file. */
export interface SqliteConnection {
  readonly inTransaction: boolean;
  /** Runs statements without values. @throws SQLite's error */
  exec(sql: string): void;
  /** @throws SQLite's error */
  prepare(sql: string): PreparedStatement;
  /** @throws SQLite's error */
  close(): void;
}

/** A build of SQLite. */
export interface SqliteDriver {
  /** It has the system's locks, which go when this process closes any descriptor of the file: fcntl(2). */
  readonly hasSystemLocks: boolean;
  /** Opens or creates the file at `path`; it may be read later only. @throws SQLite's error */
  open(path: string): SqliteConnection;
}
