/**
 * A few worker threads for work that would block the gateway's main thread. Several pieces of work share a thread. Each
 * is done in short steps that its owner requests one by one; the thread does the steps in the order of the requests, so
 * that long work does not delay short work.
 */
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../clock.ts';
import { type ErrorCode, TrunklineError } from '../errors.ts';
import { DiskError } from '../folders/disk.ts';
import type { WorkReply, WorkRequest } from './worker-thread.ts';

/** A step takes milliseconds: a thread that does not answer for this long is stuck in a loop. */
const SILENCE_MAX_MS = 60_000;

/**
 * A thread without work stays for so long: the start of one costs 0.1 s of CPU time, more than most of its work, and
 * work rarely comes alone. Meanwhile it holds 10 to 25 MB.
 */
const IDLE_MS = 10_000;

interface PoolOptions {
  /** The path of the threads' program, which calls `serveWork`. */
  readonly program: string;
  readonly threadsMax: number;
  /** The heap limit of each thread; buffers are not part of the heap. */
  readonly heapMb: number;
  readonly clock: Clock;
}

/** The thread of a piece of work died or hung. */
export class WorkLostError extends Error {
  /** Whether this piece of work was in progress then, and not another one of the same thread. */
  readonly isCause: boolean;

  constructor(isCause: boolean) {
    super('the thread was lost');
    this.isCause = isCause;
  }
}

/** One piece of work. Its owner must close it, also after an error. */
export interface PoolWork<Answer, Input = undefined> {
  /**
   * Does the next step, with what came since the one before, which must be finished.
   * @throws TrunklineError of the work; DiskError when the disk is full or fails; WorkLostError when the thread died;
   * the reason of `signal`
   */
  next(signal: AbortSignal, input?: Input): Promise<Answer>;
  /** Idempotent. */
  close(): void;
}

/** Threads of one program. A thread without work ends after a while. */
export class WorkerPool<Task, Answer, Input = undefined> {
  readonly #options: PoolOptions;
  readonly #threads = new Set<PoolThread<Task, Answer, Input>>();
  #nextId = 1;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** How many threads run now. */
  get threads(): number {
    return this.#threads.size;
  }

  /**
   * Opens a piece of work, which begins with its first step. `transfer` = buffers of `task` that are moved to the
   * thread and not copied.
   */
  open(task: Task, transfer: ArrayBuffer[] = []): PoolWork<Answer, Input> {
    const id = this.#nextId++;
    let thread: PoolThread<Task, Answer, Input> | null = null;
    let isOver = false;
    return {
      next: (signal, input) => {
        if (isOver || signal.aborted) return Promise.reject(signal.reason ?? new Error('the work has ended'));
        if (thread !== null) return thread.ask({ id, input }, [], signal);
        thread = this.#threadFor(id);
        return thread.ask({ id, task, input }, transfer, signal);
      },
      close: () => {
        isOver = true;
        thread?.end(id);
      },
    };
  }

  /** Ends threads without work, and others as soon as they have none. */
  close(): void {
    this.#isClosed = true;
    for (const thread of [...this.#threads]) thread.rest(0);
  }

  /** The thread with the least work, or a new one. */
  #threadFor(id: number): PoolThread<Task, Answer, Input> {
    const [idlest] = [...this.#threads].toSorted((a, b) => a.works.size - b.works.size);
    const isFull = this.#threads.size >= this.#options.threadsMax;
    const thread = idlest !== undefined && (isFull || idlest.works.size === 0) ? idlest : this.#start();
    thread.begin(id);
    return thread;
  }

  #start(): PoolThread<Task, Answer, Input> {
    const thread = new PoolThread<Task, Answer, Input>(this.#options, {
      onIdle: () => thread.rest(this.#isClosed ? 0 : IDLE_MS),
      onEnd: () => this.#threads.delete(thread),
    });
    this.#threads.add(thread);
    return thread;
  }
}

interface Asked<Answer> {
  readonly id: number;
  settle(reply: WorkReply<Answer> | WorkLostError): void;
}

interface ThreadListener {
  /** It has no work any more. */
  onIdle(): void;
  onEnd(): void;
}

class PoolThread<Task, Answer, Input> {
  /** Ids of the work that has begun here and is not closed. */
  readonly works = new Set<number>();
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #listener: ThreadListener;
  /** Steps without a reply, in the order in which they are done, including aborted ones. */
  readonly #asked: Asked<Answer>[] = [];
  #watch: Timer | null = null;
  #idle: Timer | null = null;
  #isGone = false;

  constructor({ program, heapMb, clock }: PoolOptions, listener: ThreadListener) {
    this.#clock = clock;
    this.#listener = listener;
    this.#worker = new Worker(program, {
      execArgv: [],
      // Nobody reads them, or the thread would keep the process alive: `unref` leaves out streams that are read.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.on('message', (reply: WorkReply<Answer>) => this.#take(reply));
    this.#worker.on('error', () => this.#lose());
    this.#worker.on('exit', () => this.#lose());
  }

  ask(request: WorkRequest<Task, Input>, transfer: ArrayBuffer[], signal: AbortSignal): Promise<Answer> {
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
    this.#worker.postMessage({ id, isOver: true } satisfies WorkRequest<Task>);
    if (this.works.size === 0) this.#listener.onIdle();
  }

  begin(id: number): void {
    this.#idle?.cancel();
    this.#worker.ref();
    this.works.add(id);
  }

  /**
   * Without work until `idleMs` have passed, it ends; at once where it is in a step that nobody waits for. It keeps no
   * process alive meanwhile.
   */
  rest(idleMs: number): void {
    if (this.works.size > 0) return;
    this.#idle?.cancel();
    this.#worker.unref();
    if (idleMs === 0 || this.#asked.length > 0) this.#lose();
    else this.#idle = this.#clock.after(idleMs, () => this.#lose(), true);
  }

  #take(reply: WorkReply<Answer>): void {
    const at = this.#asked.findIndex(({ id }) => id === reply.id);
    if (at >= 0) this.#asked.splice(at, 1)[0]?.settle(reply);
    this.#await();
  }

  /** Starts the time limit of the current step. */
  #await(): void {
    this.#watch?.cancel();
    this.#watch = this.#asked.length === 0 ? null : this.#clock.after(SILENCE_MAX_MS, () => this.#lose());
  }

  #lose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#watch?.cancel();
    this.#idle?.cancel();
    this.#listener.onEnd();
    void this.#worker.terminate();
    for (const [at, { settle }] of this.#asked.entries()) settle(new WorkLostError(at === 0));
  }
}

/** The error that a thread's failure stands for. A disk error stays one, so that the work is retried. */
function errorOf({ code, message }: { readonly code: ErrorCode; readonly message: string }): Error {
  return code === 'disk_full' ? new DiskError(message) : new TrunklineError(code, message);
}
