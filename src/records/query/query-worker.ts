/** The thread of one query over a copy of the records, in WebAssembly: it can be ended at any time. */
import { parentPort, workerData } from 'node:worker_threads';
import sqlite from 'node-sqlite3-wasm';
import { gatherRows, type QueryAnswer } from './query-terms.ts';

/** What the thread is started with. */
export interface QueryTask {
  /** Of the copy. */
  readonly path: string;
  readonly sql: string;
}

/** What it answers. */
export type QueryReply = QueryAnswer | { readonly error: string };

/** What nobody reads through the API either: secrets of users, sessions and gateways. */
const HIDE_SECRETS = `
  UPDATE users SET secret = '';
  DELETE FROM sessions;
  DELETE FROM meta WHERE name = 'session_secret' OR name LIKE 'cluster:%';
  UPDATE outbox SET target = NULL;
  PRAGMA query_only = ON;
`;

const { path, sql } = workerData as QueryTask;

function answer(): QueryReply {
  const database = new sqlite.Database(path);
  try {
    // The log of the copy is not needed: the copy is thrown away.
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; ${HIDE_SECRETS}`);
    return gatherRows(database.prepare(sql).iterate());
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    database.close();
  }
}

parentPort?.postMessage(answer());
