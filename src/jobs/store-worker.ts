/** The thread of the database: SQLite in WebAssembly, whose calls block their thread while the disk is busy. */
import { closeSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import sqlite from 'node-sqlite3-wasm';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import type { FromStoreWorker, StoreRequest } from './store.ts';

/**
 * Uses a write-ahead log and exclusive locking. The file system of the WebAssembly build takes every lock for another
 * process's, even its own, so SQLite would never read the rollback journal of a killed process. It always reads the
 * log. https://sqlite.org/wal.html#use_of_wal_without_shared_memory
 */
const SCHEMA = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS batches (id TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS files (
    batch TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (batch, number)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * SQLITE_FULL, SQLITE_IOERR, and SQLITE_CANTOPEN, which SQLite reports when there is no room for its log.
 * https://sqlite.org/rescode.html
 */
const DISK_TROUBLE = /^(database or disk is full|disk I\/O error|unable to open database file)$/;

const path = String(workerData);
let database: sqlite.Database | null = null;

/** Called by the first request, and by later ones after a failure: the disk may be full. */
function open(): sqlite.Database {
  // Gives the system's error if the file cannot be opened; SQLite's error does not say why.
  closeSync(openSync(path, 'a'));
  const opened = new sqlite.Database(path);
  try {
    opened.exec(SCHEMA);
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

/** Runs all statements of a request in one transaction. */
function run({ statements }: StoreRequest): unknown[] {
  database ??= open();
  database.exec('BEGIN IMMEDIATE');
  try {
    const rows = statements.map(({ sql, values }) => database?.all(sql, [...values]));
    database.exec('COMMIT');
    return rows;
  } catch (error) {
    rollBack(database);
    throw error;
  }
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
    database?.close();
  } catch {
    // Nothing is lost: a request is answered only after its commit.
  }
  database = null;
}

function answer(message: FromStoreWorker): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (request: StoreRequest | 'close') => {
  if (request === 'close') {
    close();
    parentPort?.close();
    return;
  }
  try {
    answer({ id: request.id, rows: run(request) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    answer({ id: request.id, error: withoutPath(message), isDisk: isDiskTrouble(error) || DISK_TROUBLE.test(message) });
  }
});

function withoutPath(message: string): string {
  return message.replaceAll(path, 'the database');
}
