/** What the gateway and the thread of a SQLite database tell each other. */

/** A value that SQLite stores. */
export type SqliteValue = string | number | bigint | Uint8Array | null;

/** One statement with the values of its parameters. */
export interface SqliteStatement {
  readonly sql: string;
  readonly values: readonly SqliteValue[];
}

/** What a thread is started with. */
export interface SqliteThreadData {
  readonly path: string;
  /** Runs whenever the database is opened. */
  readonly setup: string;
}

/** Statements of which a waiting write goes before any waiting read. */
export type SqliteLane = 'write' | 'read';

/** A request of the gateway. */
export interface SqliteRequest {
  readonly id: number;
  readonly lane: SqliteLane;
  readonly statements: readonly SqliteStatement[];
  /** All or none of the statements, in a transaction of their own. */
  readonly isAtomic: boolean;
  /** The system's locks of the file may be gone: it is opened again before the statements. Never in a transaction. */
  readonly takesLocks?: boolean;
}

/** Nobody waits for this request any more: it is not run if it waits. It is answered all the same. */
export interface SqliteDrop {
  readonly drop: number;
}

/** What came of one statement. */
export interface SqliteResult {
  readonly rows: readonly Readonly<Record<string, SqliteValue>>[];
  /** Of a statement without rows. */
  readonly changes: number;
}

/**
 * The answer to a request. With `trouble` the request may be repeated: the disk is full or fails, or another program
 * has the file open. `freeBytes` = what the disk has left, null = it cannot be told.
 */
export type SqliteReply = { readonly id: number } & (
  | { readonly results: readonly SqliteResult[] }
  | { readonly error: string; readonly trouble: 'locked' | null }
  | { readonly error: string; readonly trouble: 'disk'; readonly freeBytes: number | null }
);

/** Somebody has deleted the database's log while it was in use; nothing is lost, and a new one was begun. */
export interface SqliteNotice {
  readonly notice: 'log_lost';
}

/** What the thread tells the gateway. */
export type SqliteMessage = SqliteReply | SqliteNotice;
