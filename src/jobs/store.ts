/** Stores batches and their files in a SQLite database, on a thread of its own. */
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { DiskError } from '../foundation/folders/disk.ts';
import { closeToOthers, PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import type { Batch, BatchFile } from './batch.ts';

interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Statements of one transaction. */
export interface StoreRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
}

/**
 * The rows of each statement of a request, or its error. `isDisk` = SQLite reports that the disk is full or fails.
 */
export type FromStoreWorker = { readonly id: number } & (
  | { readonly rows: unknown[] }
  | { readonly error: string; readonly isDisk: boolean }
);

interface Waiting {
  resolve(rows: unknown[]): void;
  reject(error: Error): void;
}

const PUT_BATCH = 'INSERT INTO batches VALUES (?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';
const PUT_FILE = 'INSERT INTO files VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content';

/**
 * The database in one folder. When a promise resolves, its data is on disk. When the disk is full or fails, promises
 * reject with DiskError, nothing has changed, and the request may be repeated.
 */
export class Store {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #failure: Error | null = null;

  private constructor(path: string) {
    this.#worker = new Worker(packagePath('dist', 'src', 'jobs', 'store-worker.js'), {
      workerData: path,
      execArgv: [],
    });
    this.#worker.on('message', (message: FromStoreWorker) => this.#settle(message));
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('the store is closed')));
  }

  /**
   * Opens the database in `folder`, which no other process may use. Removes the lock of a killed process.
   */
  static async open(folder: string): Promise<Store> {
    const path = join(folder, 'batches.sqlite');
    await rm(`${path}.lock`, { recursive: true, force: true });
    // It contains names and sources of recordings, and SQLite would create it readable for all users.
    await (await open(path, 'a', PRIVATE_FILE_MODE)).close();
    await closeToOthers(path);
    return new Store(path);
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
    if (this.#failure !== null) return;
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await ended;
  }

  #run(statements: readonly Statement[]): Promise<unknown[]> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, statements } satisfies StoreRequest);
    });
  }

  #settle(message: FromStoreWorker): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('rows' in message) waiting?.resolve(message.rows);
    else waiting?.reject(new (message.isDisk ? DiskError : Error)(`the store failed: ${message.error}`));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
