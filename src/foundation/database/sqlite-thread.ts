/** A SQLite database on a thread of its own: the gateway's side. */
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Clock, systemClock, type Timer } from '../clock.ts';
import { DiskError } from '../folders/disk.ts';
import { closeToOthers, PRIVATE_FILE_MODE } from '../folders/folders.ts';
import { packagePath } from '../folders/paths.ts';
import { abortSignal } from './abort.ts';
import type {
  SqliteDrop,
  SqliteLane,
  SqliteMessage,
  SqliteReply,
  SqliteRequest,
  SqliteResult,
  SqliteStatement,
  SqliteThreadData,
  SqliteValue,
} from './sqlite-messages.ts';
import { storableValue } from './storable-text.ts';
import { DatabaseAway } from './trouble.ts';

/** A read that has no answer for so long: the disk is stuck. Its asker gets an error, and the thread goes on. */
const READ_MAX_MS = 15_000;
/** Further reads are refused at once while so many wait. */
const READS_WAITING_MAX = 1000;

/** Opens the file, and changes nothing. */
const HARMLESS: SqliteStatement = { sql: 'PRAGMA schema_version', values: [] };

interface Waiting {
  resolve(results: readonly SqliteResult[]): void;
  reject(error: unknown): void;
  /** Ends the wait of a read. */
  readonly timer: Timer | null;
}

interface SqliteThreadOptions {
  /** The database's file; its folder must be owned by this process. */
  readonly path: string;
  /** SQL that runs whenever the database is opened. */
  readonly setup: string;
  /** How errors call the database, e.g. `the store`. */
  readonly name: string;
  /** Told when another program has deleted the database's log; left out = nobody is. */
  readonly onLogLost?: () => void;
  /** By default the machine's own. */
  readonly clock?: Clock;
}

/**
 * One database file. When a promise of a write resolves, its data is on disk. When the disk is full or fails, promises
 * reject with DiskError, nothing has changed, and the request may be repeated. A read that gets no answer rejects with
 * DatabaseAway; a write waits. A thread that ends by itself is replaced at the next request.
 */
export class SqliteThread {
  readonly #options: SqliteThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #nextId = 1;
  #isClosed = false;

  private constructor(options: SqliteThreadOptions) {
    this.#options = options;
    this.#worker = this.#start();
  }

  /**
   * Opens the database, which no other process may use. The first request tells whether the file is a database.
   * @throws the system's error when the file cannot be created
   */
  static async open(options: SqliteThreadOptions): Promise<SqliteThread> {
    const { path } = options;
    // It is private, and SQLite would create it readable for all users.
    await (await open(path, 'a', PRIVATE_FILE_MODE)).close();
    await closeToOthers(path);
    return new SqliteThread(options);
  }

  get path(): string {
    return this.#options.path;
  }

  /** Runs all statements in one transaction. */
  runAtomically(statements: readonly SqliteStatement[]): Promise<readonly SqliteResult[]> {
    return this.#ask({ lane: 'write', statements, isAtomic: true });
  }

  /** Runs one statement; in the lane `write` inside the transaction that is open there, if any. */
  async run(lane: SqliteLane, statement: SqliteStatement): Promise<SqliteResult> {
    const [result] = await this.#ask({ lane, statements: [statement], isAtomic: false });
    return result ?? { rows: [], changes: 0 };
  }

  /**
   * To be called, outside of transactions, after this process has read the database's file itself: the system's locks
   * may have gone with that. The file is opened again where it has such locks.
   */
  async takeLocks(): Promise<void> {
    await this.#ask({ lane: 'write', statements: [HARMLESS], isAtomic: false, takesLocks: true });
  }

  /** Closes the database when all requests are done. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#worker === null) return;
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await ended;
  }

  /**
   * Rejects what waits, and ends the thread. Resolves when it has ended, which one that waits for a stuck disk never
   * does.
   */
  async abandon(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#lose(new Error(`${this.#options.name} is closed`));
    await worker?.terminate();
  }

  #ask(asking: Omit<SqliteRequest, 'id'>): Promise<readonly SqliteResult[]> {
    const { lane } = asking;
    if (this.#isClosed) return Promise.reject(new Error(`${this.#options.name} is closed`));
    if (lane === 'read' && this.#waiting.size >= READS_WAITING_MAX) return Promise.reject(this.#away());
    const id = this.#nextId++;
    const asked = new Promise<readonly SqliteResult[]>((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#waiting.set(id, { resolve, reject, timer: lane === 'read' ? this.#limit(id) : null });
      const request: SqliteRequest = { id, ...asking, statements: asking.statements.map(storable) };
      this.#worker.postMessage(request);
    });
    const signal = lane === 'read' ? abortSignal() : undefined;
    return signal === undefined ? asked : this.#untilAborted(id, asked, signal);
  }

  async #untilAborted<T>(id: number, asked: Promise<T>, signal: AbortSignal): Promise<T> {
    const onAbort = (): void => {
      // It stays among those that wait until the thread has answered.
      this.#waiting.get(id)?.reject(signal.reason);
      this.#worker?.postMessage({ drop: id } satisfies SqliteDrop);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await asked;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #limit(id: number): Timer {
    const { clock = systemClock } = this.#options;
    // It stays among those that wait, so that their number is that of the thread.
    return clock.after(READ_MAX_MS, () => this.#waiting.get(id)?.reject(this.#away()), true);
  }

  #away(): DatabaseAway {
    return new DatabaseAway(`${this.#options.name} does not answer: its disk is stuck or very busy`);
  }

  #start(): Worker {
    const { path, setup, name } = this.#options;
    const worker = new Worker(packagePath('dist', 'src', 'foundation', 'database', 'sqlite-worker.js'), {
      workerData: { path, setup } satisfies SqliteThreadData,
      execArgv: [],
    });
    worker.on('message', (message: SqliteMessage) => {
      if ('notice' in message) this.#options.onLogLost?.();
      else this.#settle(message);
    });
    worker.on('error', (error) => {
      const why = error instanceof Error ? error.message : String(error);
      this.#forget(worker, new DiskError(`${name} failed: its thread ended (${why})`));
    });
    worker.on('exit', () => this.#forget(worker, new DiskError(`${name} failed: its thread ended`)));
    return worker;
  }

  #settle(message: SqliteReply): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    waiting?.timer?.cancel();
    if ('results' in message) waiting?.resolve(message.results);
    else waiting?.reject(this.#errorOf(message));
  }

  #errorOf(message: Extract<SqliteReply, { readonly error: string }>): Error {
    const { name, path } = this.#options;
    const text = `${name} failed: ${message.error}`;
    if (message.trouble === 'disk') return new DiskError(text, { path: dirname(path), freeBytes: message.freeBytes });
    if (message.trouble === 'locked')
      return new DiskError(`${text}: another program has its file open; end that program`);
    return new Error(text);
  }

  #forget(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#lose(error);
  }

  #lose(error: Error): void {
    for (const { reject, timer } of this.#waiting.values()) {
      timer?.cancel();
      reject(error);
    }
    this.#waiting.clear();
  }
}

function storable({ sql, values }: SqliteStatement): SqliteStatement {
  return { sql, values: values.map((value) => storableValue(value) as SqliteValue) };
}
