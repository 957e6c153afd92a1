/** Stores batches and their files in a SQLite database, on a thread of its own. */
import { join } from 'node:path';
import type { SqliteStatement } from '../foundation/database/sqlite-messages.ts';
import { SqliteThread } from '../foundation/database/sqlite-thread.ts';
import type { Batch, BatchFile } from './batch.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS batches (id TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS files (
    batch TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (batch, number)
  ) STRICT, WITHOUT ROWID;
`;

const PUT_BATCH = 'INSERT INTO batches VALUES (?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';
const PUT_FILE = 'INSERT INTO files VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';

/**
 * The database in one folder. When a promise resolves, its data is on disk. When the disk is full or fails, promises
 * reject with DiskError, nothing has changed, and the request may be repeated.
 */
export class Store {
  readonly #thread: SqliteThread;

  private constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  /**
   * Opens the database in `folder`, which no other process may use. Removes the lock of a killed process.
   */
  static async open(folder: string): Promise<Store> {
    const path = join(folder, 'batches.sqlite');
    return new Store(await SqliteThread.open({ path, setup: SCHEMA, name: 'the store' }));
  }

  /** Every batch with its files, the oldest first. */
  async load(): Promise<Batch[]> {
    const [batches = [], files = []] = (await this.#run([
      { sql: 'SELECT content FROM batches', values: [] },
      { sql: 'SELECT batch, content FROM files ORDER BY batch, number', values: [] },
    ])) as [{ content: string }[], { batch: string; content: string }[]];
    const found = new Map(
      batches
        .map(({ content }) => JSON.parse(content) as Omit<Batch, 'files'>)
        .map((batch) => [batch.id, { ...batch, files: [] as BatchFile[] }]),
    );
    for (const { batch, content } of files) found.get(batch)?.files.push(JSON.parse(content) as BatchFile);
    return [...found.values()].toSorted((a, b) => a.createdMs - b.createdMs);
  }

  /** Stores a batch and `files` of it. */
  async put({ files: _files, ...batch }: Batch, files: readonly BatchFile[]): Promise<void> {
    await this.#run([
      { sql: PUT_BATCH, values: [batch.id, JSON.stringify(batch)] },
      ...files.map((file) => ({ sql: PUT_FILE, values: [batch.id, file.number, JSON.stringify(file)] })),
    ]);
  }

  /** Deletes a batch. */
  async remove(id: string): Promise<void> {
    await this.#run([
      { sql: 'DELETE FROM batches WHERE id = ?', values: [id] },
      { sql: 'DELETE FROM files WHERE batch = ?', values: [id] },
    ]);
  }

  /** Closes the database when all requests are done. */
  async close(): Promise<void> {
    await this.#thread.close();
  }

  async #run(statements: readonly SqliteStatement[]): Promise<unknown[]> {
    const results = await this.#thread.runAtomically(statements);
    return results.map(({ rows }) => rows);
  }
}
