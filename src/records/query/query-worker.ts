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

/** One value may have a gigabyte, which no limit of a thread sees, and SQLite's own limit is not built in. */
const MEMORY_MAX_BYTES = 256_000_000;
const PAGE_BYTES = 65_536;

/** The types of Node leave `grow` out. */
interface GrowingMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** From now on SQLite is out of memory where it wants more, in this thread alone. */
function limitMemory(): void {
  const prototype = WebAssembly.Memory.prototype as unknown as GrowingMemory;
  const { grow } = prototype;
  prototype.grow = function (pages: number): number {
    if (this.buffer.byteLength + pages * PAGE_BYTES > MEMORY_MAX_BYTES) throw new RangeError('too much memory');
    return grow.call(this, pages);
  };
}

const { path, sql } = workerData as QueryTask;

async function answer(): Promise<QueryReply> {
  const database = new sqlite.Database(path);
  try {
    // The log of the copy is not needed: the copy is thrown away.
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; ${HIDE_SECRETS}`);
    return await gatherRows(database.prepare(sql).iterate());
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    database.close();
  }
}

limitMemory();
parentPort?.postMessage(await answer());
