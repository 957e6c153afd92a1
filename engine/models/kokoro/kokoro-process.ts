/** The engine's side of Kokoro's thread. */
import { Worker } from 'node:worker_threads';

/** What the thread is asked for: numbers of phonemes with 0 at both ends, a style and a speed. */
export interface KokoroRun {
  readonly id: number;
  readonly ids: readonly number[];
  readonly style: Float32Array;
  readonly speed: number;
}

/** Samples at 24 kHz of full scale 1, and the processor time that they took. */
export interface KokoroSound {
  readonly samples: Float32Array;
  readonly spentMs: number;
}

/** What the thread answers. */
export type KokoroAnswer = ({ readonly id: number } & KokoroSound) | { readonly id: number; readonly error: string };

/** The built program: threads know no TypeScript. */
const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/engine/models/kokoro/kokoro-thread.js' : './kokoro-thread.js',
  import.meta.url,
);

interface Waiter {
  resolve(sound: KokoroSound): void;
  reject(error: Error): void;
}

/** Runs the network of a file, in a thread that is started by the first run and again after it died. */
export class KokoroProcess {
  readonly #file: string;
  readonly #waiters = new Map<number, Waiter>();
  #worker: Worker | null = null;
  #nextId = 1;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws Error when the run fails or the thread dies */
  run(work: Omit<KokoroRun, 'id'>): Promise<KokoroSound> {
    const id = this.#nextId++;
    this.#worker ??= this.#start();
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiters.set(id, { resolve, reject });
      this.#worker?.postMessage({ ...work, id } satisfies KokoroRun);
    });
  }

  /** Ends the thread, and with it what it holds in memory. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(PROGRAM, { workerData: this.#file });
    worker.on('message', (answer: KokoroAnswer) => this.#settle(answer));
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => {
      this.#fail(new Error('the thread of the model has ended'));
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }

  #settle(answer: KokoroAnswer): void {
    const waiter = this.#waiters.get(answer.id);
    this.#waiters.delete(answer.id);
    // An idle thread does not keep the engine alive.
    if (this.#waiters.size === 0) this.#worker?.unref();
    if ('error' in answer) waiter?.reject(new Error(answer.error));
    else waiter?.resolve(answer);
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiters.values()) reject(error);
    this.#waiters.clear();
  }
}
