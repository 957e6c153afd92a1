/**
 * The thread that has the database: SQLite in WebAssembly, whose calls hold their thread for as long as the disk takes.
 */
import { closeSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import sqlite from 'node-sqlite3-wasm';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import type { FromStoreWorker, StoreRequest } from './store.ts';

/**
 * With a log of its own, and nobody else near: the file system below takes every lock that is held for another
 * process's, also its own, and so would never look at the journal of a process that was killed. A log is always looked
 * at. https://sqlite.org/wal.html#use_of_wal_without_shared_memory
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
 * SQLITE_FULL, SQLITE_IOERR, and SQLITE_CANTOPEN, which is what it says when there is no room for its log.
 * https://sqlite.org/rescode.html
 */
const DISK_TROUBLE = /^(database or disk is full|disk I\/O error|unable to open database file)$/;

const path = String(workerData);
let database: sqlite.Database | null = null;

/** Opened when it is needed first, or again: a disk may be full just then. */
function open(): sqlite.Database {
  // SQLite would not say why it cannot.
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

/** All of a request's statements or none. */
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
 * SQLite may have rolled back itself. What cannot be rolled back now is, by its journal, when the database is opened
 * again.
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
    // What there was to be kept is: whoever asked for it has been told.
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
