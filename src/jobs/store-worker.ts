/** The thread that has the database: SQLite in WebAssembly, whose calls hold their thread for as long as the disk takes. */
import { parentPort, workerData } from 'node:worker_threads';
import sqlite from 'node-sqlite3-wasm';
import type { FromStoreWorker, StoreRequest } from './store.ts';

const SCHEMA = `
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS batches (id TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS files (
    batch TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (batch, number)
  ) STRICT, WITHOUT ROWID;
`;

const database = new sqlite.Database(String(workerData));
database.exec(SCHEMA);

/** All of a request's statements or none. */
function run({ statements }: StoreRequest): unknown[] {
  database.exec('BEGIN IMMEDIATE');
  try {
    const rows = statements.map(({ sql, values }) => database.all(sql, [...values]));
    database.exec('COMMIT');
    return rows;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function answer(message: FromStoreWorker): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (request: StoreRequest | 'close') => {
  if (request === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  try {
    answer({ id: request.id, rows: run(request) });
  } catch (error) {
    answer({ id: request.id, error: error instanceof Error ? error.message : String(error) });
  }
});
