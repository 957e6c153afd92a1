/** The thread of a database: SQLite in WebAssembly, whose calls block their thread while the disk is busy. */
import { closeSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import sqlite from 'node-sqlite3-wasm';
import { systemClock } from '../clock.ts';
import { isDiskTrouble } from '../folders/disk.ts';
import type {
  SqliteDrop,
  SqliteMessage,
  SqliteRequest,
  SqliteResult,
  SqliteStatement,
  SqliteThreadData,
} from './sqlite-messages.ts';
import { WalWatch } from './wal-watch.ts';

/**
 * Uses a write-ahead log and exclusive locking. The file system of the WebAssembly build takes every lock for another
 * process's, even its own, so SQLite would never read the rollback journal of a killed process. It always reads the
 * log. https://sqlite.org/wal.html#use_of_wal_without_shared_memory
 */
const DURABLE = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
`;

/**
 * SQLITE_FULL, SQLITE_IOERR, and SQLITE_CANTOPEN, which SQLite reports when there is no room for its log.
 * https://sqlite.org/rescode.html
 */
const DISK_TROUBLE = /^(database or disk is full|disk I\/O error|unable to open database file)$/;

/** Statements with rows. Values are bound, so the word is not one of a text. */
const HAS_ROWS = /^\s*(select|with|pragma|values|explain)\b|\breturning\b/i;

/** Prepared statements that are kept, and the length up to which they are: longer ones insert many rows at once. */
const PREPARED_MAX = 200;
const PREPARED_MAX_CHARS = 2000;

/** So often it is looked whether the log is still there, where nothing is written. */
const WATCH_EVERY_MS = 500;

const { path, setup } = workerData as SqliteThreadData;
const prepared = new Map<string, sqlite.Statement>();
const writes: SqliteRequest[] = [];
const reads: SqliteRequest[] = [];
const log = new WalWatch(path);
let database: sqlite.Database | null = null;
let hasWritten = false;
let isScheduled = false;
let isClosing = false;

/** Called by the first request, and by later ones after a failure: the disk may be full. */
function open(): sqlite.Database {
  // Gives the system's error if the file cannot be opened; SQLite's error does not say why.
  closeSync(openSync(path, 'a'));
  const opened = new sqlite.Database(path);
  try {
    opened.exec(DURABLE + setup);
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

function run({ statements, isAtomic }: SqliteRequest): SqliteResult[] {
  database ??= open();
  const opened = database;
  if (!isAtomic) return statements.map((statement) => execute(opened, statement));
  opened.exec('BEGIN IMMEDIATE');
  try {
    const results = statements.map((statement) => execute(opened, statement));
    opened.exec('COMMIT');
    return results;
  } catch (error) {
    rollBack(opened);
    throw error;
  }
}

function execute(opened: sqlite.Database, { sql, values }: SqliteStatement): SqliteResult {
  const statement = prepare(opened, sql);
  try {
    if (HAS_ROWS.test(sql)) return { rows: statement.all([...values]) as SqliteResult['rows'], changes: 0 };
    return { rows: [], changes: statement.run([...values]).changes };
  } catch (error) {
    // It reports its error again when it is next used.
    prepared.delete(sql);
    throw error;
  } finally {
    if (!prepared.has(sql)) finalize(statement);
  }
}

/**
 * Where somebody has deleted the log, its content, which this connection still has, is moved into the database, and a
 * new log is begun. Does nothing inside of a transaction. @throws the error of the disk; then the connection keeps it
 */
function keepLog(): void {
  if (database === null || !hasWritten || database.inTransaction || !log.isLost()) return;
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  close();
  database = open();
  answer({ notice: 'log_lost' });
}

/** Between requests. What fails is tried again, and the next request tells of it. */
function watchLog(): void {
  try {
    keepLog();
  } catch {
    // The disk is full or fails.
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

function prepare(opened: sqlite.Database, sql: string): sqlite.Statement {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  const statement = opened.prepare(sql);
  if (sql.length > PREPARED_MAX_CHARS) return statement;
  const [oldest] = prepared.keys();
  if (prepared.size >= PREPARED_MAX && oldest !== undefined) {
    const dropped = prepared.get(oldest);
    if (dropped !== undefined) finalize(dropped);
    prepared.delete(oldest);
  }
  prepared.set(sql, statement);
  return statement;
}

/**
 * SQLite may have rolled back already. If the roll-back fails, the database is closed; SQLite rolls back when it is
 * opened again.
 */
function rollBack(begun: sqlite.Database): void {
  try {
    if (begun.inTransaction) begun.exec('ROLLBACK');
  } catch {
    close();
  }
}

function close(): void {
  try {
    for (const statement of prepared.values()) finalize(statement);
    database?.close();
  } catch {
    // Nothing is lost: a request is answered only after its commit.
  }
  prepared.clear();
  log.close();
  hasWritten = false;
  database = null;
}

function answer(message: SqliteMessage): void {
  parentPort?.postMessage(message);
}

function serve(request: SqliteRequest): void {
  try {
    const results = run(request);
    if (request.lane === 'write') {
      hasWritten = true;
      // What is answered is on disk, and found there.
      keepLog();
    }
    answer({ id: request.id, results });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isDisk = isDiskTrouble(error) || DISK_TROUBLE.test(message);
    const told = { id: request.id, error: withoutPath(message) };
    if (isDisk) answer({ ...told, isDisk, freeBytes: freeBytes() });
    else answer({ ...told, isDisk });
  }
}

/** Asked on this thread: a stuck disk answers nothing. */
function freeBytes(): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** One request in each turn of the event loop, so that a write which arrives meanwhile is next. */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(next);
}

/** Reads wait for the end of a transaction whose statements come one by one: there is only one connection. */
function next(): void {
  isScheduled = false;
  const request = writes.shift() ?? (database?.inTransaction === true ? undefined : reads.shift());
  if (request !== undefined) {
    serve(request);
    schedule();
  } else if (isClosing) {
    watching.cancel();
    watchLog();
    close();
    parentPort?.close();
  }
}

function drop(id: number): void {
  const at = reads.findIndex((request) => request.id === id);
  if (at < 0) return;
  reads.splice(at, 1);
  answer({ id, results: [] });
}

const watching = systemClock.every(WATCH_EVERY_MS, watchLog);
parentPort?.on('message', (request: SqliteRequest | SqliteDrop | 'close') => {
  if (request === 'close') isClosing = true;
  else if ('drop' in request) drop(request.drop);
  else (request.lane === 'write' ? writes : reads).push(request);
  schedule();
});

function withoutPath(message: string): string {
  return message.replaceAll(path, 'the database');
}
