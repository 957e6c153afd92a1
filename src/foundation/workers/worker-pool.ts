/**
 * Threads for work that would hold up the gateway's own thread: a few, however much work there is. Each has several
 * pieces of work, of which whoever wants them asks one step after the other; a thread does the steps in the order in
 * which they were asked for, so that long work does not hold up short work.
 */
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../clock.ts';
import { type ErrorCode, TrunklineError } from '../errors.ts';
import { DiskError } from '../folders/disk.ts';
import type { WorkReply, WorkRequest } from './worker-thread.ts';

/** A step takes milliseconds; a thread that says nothing for so long goes round in circles. */
const SILENCE_MAX_MS = 60_000;

interface PoolOptions {
  /** The program of the threads, which calls `serveWork`. */
  readonly program: string;
  readonly threadsMax: number;
  /** Of each thread's own memory; buffers come on top. */
  readonly heapMb: number;
  readonly clock: Clock;
}

/** The thread of a piece of work has died or hung. */
export class WorkLostError extends Error {
  /** Whether it did so at this piece of work, and not at another that it had, too. */
  readonly isCause: boolean;

  constructor(isCause: boolean) {
    super('the thread was lost');
    this.isCause = isCause;
  }
}

/** One piece of work. Whoever has it closes it, whatever happened. */
export interface PoolWork<Answer> {
  /**
   * The next step, when the one before it has been answered.
   * @throws TrunklineError as the thread does; DiskError when its disk is full or fails; WorkLostError when the thread
   * died; the reason of `signal` when that aborts
   */
  next(signal: AbortSignal): Promise<Answer>;
  /** Idempotent. */
  close(): void;
}

/** Threads of one program. None lives while there is no work. */
export class WorkerPool<Task, Answer> {
  readonly #options: PoolOptions;
  readonly #threads = new Set<PoolThread<Task, Answer>>();
  #nextId = 1;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Threads that live now. */
  get threads(): number {
    return this.#threads.size;
  }

  /**
   * A piece of work: nothing is done before its first step is asked for. The buffers `transfer` of `task` move to the
   * thread.
   */
  open(task: Task, transfer: ArrayBuffer[] = []): PoolWork<Answer> {
    const id = this.#nextId++;
    let thread: PoolThread<Task, Answer> | null = null;
    let isOver = false;
    return {
      next: (signal) => {
        if (isOver || signal.aborted) return Promise.reject(signal.reason ?? new Error('the work has ended'));
        if (thread !== null) return thread.ask({ id }, [], signal);
        thread = this.#threadFor(id);
        return thread.ask({ id, task }, transfer, signal);
      },
      close: () => {
        isOver = true;
        thread?.end(id);
      },
    };
  }

  /** The thread with the least work, or a new one. */
  #threadFor(id: number): PoolThread<Task, Answer> {
    const [idlest] = [...this.#threads].toSorted((a, b) => a.works.size - b.works.size);
    const thread = idlest !== undefined && this.#threads.size >= this.#options.threadsMax ? idlest : this.#start();
    thread.works.add(id);
    return thread;
  }

  #start(): PoolThread<Task, Answer> {
    const thread = new PoolThread<Task, Answer>(this.#options, () => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

interface Asked<Answer> {
  readonly id: number;
  settle(reply: WorkReply<Answer> | WorkLostError): void;
}

class PoolThread<Task, Answer> {
  /** Pieces of work that have begun here and are not over. */
  readonly works = new Set<number>();
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  /** Steps without a reply, in the order in which they are done. Those whose asker has gone away are among them. */
  readonly #asked: Asked<Answer>[] = [];
  #watch: Timer | null = null;
  #isGone = false;

  constructor({ program, heapMb, clock }: PoolOptions, onEnd: () => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#worker = new Worker(program, {
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    // Codecs print what they dislike.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (reply: WorkReply<Answer>) => this.#take(reply));
    this.#worker.on('error', () => this.#lose());
    this.#worker.on('exit', () => this.#lose());
  }

  ask(request: WorkRequest<Task>, transfer: ArrayBuffer[], signal: AbortSignal): Promise<Answer> {
    if (this.#isGone) return Promise.reject(new WorkLostError(false));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const settle = (reply: WorkReply<Answer> | WorkLostError): void => {
        signal.removeEventListener('abort', onAbort);
        if (reply instanceof WorkLostError) reject(reply);
        else if ('answer' in reply) resolve(reply.answer);
        else reject(errorOf(reply.failure));
      };
      this.#asked.push({ id: request.id, settle });
      this.#worker.postMessage(request, transfer);
      if (this.#asked.length === 1) this.#await();
    });
  }

  end(id: number): void {
    if (!this.works.delete(id) || this.#isGone) return;
    if (this.works.size === 0) this.#lose();
    else this.#worker.postMessage({ id, isOver: true } satisfies WorkRequest<Task>);
  }

  #take(reply: WorkReply<Answer>): void {
    const at = this.#asked.findIndex(({ id }) => id === reply.id);
    if (at >= 0) this.#asked.splice(at, 1)[0]?.settle(reply);
    this.#await();
  }

  /** Gives the step that is being done its time. */
  #await(): void {
    this.#watch?.cancel();
    this.#watch = this.#asked.length === 0 ? null : this.#clock.after(SILENCE_MAX_MS, () => this.#lose());
  }

  #lose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#watch?.cancel();
    this.#onEnd();
    void this.#worker.terminate();
    for (const [at, { settle }] of this.#asked.entries()) settle(new WorkLostError(at === 0));
  }
}

/** What a thread's failure is on this side. What its disk says may be over in a while. */
function errorOf({ code, message }: { readonly code: ErrorCode; readonly message: string }): Error {
  return code === 'disk_full' ? new DiskError(message) : new TrunklineError(code, message);
}
