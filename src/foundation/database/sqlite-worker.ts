/** The thread of a database: calls of SQLite block their thread while the disk is busy. */
import { closeSync, openSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import { isDiskTrouble } from '../folders/disk.ts';
import { nativeSqlite } from './native-sqlite.ts';
import type { PreparedStatement, SqliteConnection } from './sqlite-driver.ts';
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
 * A program that has the file open for a moment is waited for. What is sorted goes to no file outside of DATA_DIR.
 */
const DURABLE = `
  PRAGMA busy_timeout = 2000;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA temp_store = MEMORY;
`;

/**
 * SQLITE_FULL, SQLITE_IOERR, and SQLITE_CANTOPEN, which SQLite reports when there is no room for its log.
 * https://sqlite.org/rescode.html
 */
const DISK_TROUBLE = /^(database or disk is full|disk I\/O error|unable to open database file)$/;

/** SQLITE_BUSY: another program has the file open. It may end. */
const LOCKED = /^database is locked$/;

/** Statements with rows. Values are bound, so the word is not one of a text. */
const HAS_ROWS = /^\s*(select|with|pragma|values|explain)\b|\breturning\b/i;

/** Prepared statements that are kept, and the length up to which they are: longer ones insert many rows at once. */
const PREPARED_MAX = 200;
const PREPARED_MAX_CHARS = 2000;

/** So often it is looked whether the log is still there, where nothing is written. */
const WATCH_EVERY_MS = 500;

const { path, setup } = workerData as SqliteThreadData;
/** Half the work and memory where Node has SQLite; the other build is loaded only where it has none. */
const driver = nativeSqlite() ?? (await import('./wasm-sqlite.ts')).WASM_SQLITE;
const prepared = new Map<string, PreparedStatement>();
const writes: SqliteRequest[] = [];
const reads: SqliteRequest[] = [];
const log = new WalWatch(path);
let database: SqliteConnection | null = null;
let hasWritten = false;
let isScheduled = false;
let isClosing = false;

/** Called by the first request, and by later ones after a failure: the disk may be full. */
function open(): SqliteConnection {
  // Gives the system's error if the file cannot be opened; SQLite's error does not say why.
  closeSync(openSync(path, 'a'));
  // The lock of the WebAssembly build, of a process or thread that was killed: the folder has one owner.
  rmSync(`${path}.lock`, { recursive: true, force: true });
  const opened = driver.open(path);
  try {
    opened.exec(DURABLE + setup);
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

function run({ statements, isAtomic, takesLocks }: SqliteRequest): SqliteResult[] {
  if (takesLocks === true && driver.hasSystemLocks) close();
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

function execute(opened: SqliteConnection, { sql, values }: SqliteStatement): SqliteResult {
  const statement = prepare(opened, sql);
  try {
    if (HAS_ROWS.test(sql)) return { rows: statement.all(values), changes: 0 };
    return { rows: [], changes: statement.run(values) };
  } catch (error) {
    // It reports its error again when it is next used.
    prepared.delete(sql);
    throw error;
  } finally {
    if (!prepared.has(sql)) statement.finalize();
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

function prepare(opened: SqliteConnection, sql: string): PreparedStatement {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  const statement = opened.prepare(sql);
  if (sql.length > PREPARED_MAX_CHARS) return statement;
  const [oldest] = prepared.keys();
  if (prepared.size >= PREPARED_MAX && oldest !== undefined) {
    prepared.get(oldest)?.finalize();
    prepared.delete(oldest);
  }
  prepared.set(sql, statement);
  return statement;
}

/**
 * SQLite may have rolled back already. If the roll-back fails, the database is closed; SQLite rolls back when it is
 * opened again.
 */
function rollBack(begun: SqliteConnection): void {
  try {
    if (begun.inTransaction) begun.exec('ROLLBACK');
  } catch {
    close();
  }
}

function close(): void {
  try {
    for (const statement of prepared.values()) statement.finalize();
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
    const told = { id: request.id, error: withoutPath(message) };
    if (isDiskTrouble(error) || DISK_TROUBLE.test(message))
      answer({ ...told, trouble: 'disk', freeBytes: freeBytes() });
    else answer({ ...told, trouble: LOCKED.test(message) ? 'locked' : null });
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
