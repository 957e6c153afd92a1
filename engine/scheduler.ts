/**
 * The order of model runs. A job is a sequence of steps, each of them one model run (or a few short ones) that blocks
 * this thread. Between any two steps messages are received and the most urgent job is chosen again, so that a new job
 * waits for one model run at most.
 */
import { isDroppable, type JobCost, type JobErrorCode, URGENCIES, type Urgency } from './contract.ts';
import type { Time } from './time.ts';

/**
 * Yielded by a job that waits for something outside of this thread: the job goes on when `until` is resolved or
 * rejected.
 */
export interface Pause {
  readonly until: Promise<unknown>;
}

/**
 * A job's work: each `next()` makes one model run, or a few that are over as soon, and the last one returns the result.
 * A job that is forgotten is ended by `return()`.
 */
export type Steps<T> = AsyncGenerator<Pause | undefined, T, void>;

/** Does a job's work at once, with nothing in between; what came of it. */
export async function runThrough<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value;
    await Promise.allSettled([step.value?.until]);
  }
}

const BATCH_RANK = URGENCIES.indexOf('batch');

/** A job as the scheduler sees it. */
export interface ScheduledJob<Result> {
  readonly id: number;
  readonly urgency: Urgency;
  /** Wanted within this many ms from now. */
  readonly dueInMs: number;
  readonly steps: Steps<Result>;
}

/** Where answers go; each job is answered exactly once, unless it is cleared away before. */
export interface Answers<Result> {
  done(id: number, result: Result, cost: JobCost): void;
  failed(id: number, code: JobErrorCode, message: string): void;
}

interface Entry<Result> {
  readonly job: ScheduledJob<Result>;
  rank: number;
  readonly receivedMs: number;
  dueMs: number;
  /** Settled when the job's pause is over; null = it can go on now. */
  pause: Promise<void> | null;
  waitMs: number;
  runMs: number;
  runs: number;
}

/**
 * Runs jobs one step at a time: by urgency, then earliest deadline, then arrival. Its length is bounded by the
 * gateway's admission.
 */
export class Scheduler<Result> {
  readonly #time: Time;
  readonly #answers: Answers<Result>;
  readonly #entries = new Map<number, Entry<Result>>();
  #loop: Promise<void> | null = null;
  #isBatchHeld = false;

  constructor(options: { time: Time; answers: Answers<Result> }) {
    this.#time = options.time;
    this.#answers = options.answers;
  }

  /** Takes a job. An id that is still in work fails with `bad_input`; the job that holds it goes on. */
  submit(job: ScheduledJob<Result>): void {
    if (this.#entries.has(job.id)) {
      this.#answers.failed(job.id, 'bad_input', `id: got ${job.id}, which is still in work`);
      return;
    }
    const receivedMs = this.#time.nowMs();
    const rank = URGENCIES.indexOf(job.urgency);
    this.#entries.set(job.id, {
      job,
      rank,
      receivedMs,
      dueMs: receivedMs + job.dueInMs,
      pause: null,
      waitMs: 0,
      runMs: 0,
      runs: 0,
    });
    this.#loop ??= this.#run();
  }

  /**
   * Forgets a job: it is answered `cancelled` at once, and a model run of it that has begun is its last. Unknown ids
   * are ignored.
   */
  cancel(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    end(entry);
    this.#fail(entry, 'cancelled', 'cancelled by its sender');
  }

  /** Makes a job at least as urgent as `urgency`. Unknown ids are ignored. */
  hurry(id: number, urgency: Urgency): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.rank = Math.min(entry.rank, URGENCIES.indexOf(urgency));
    this.#loop ??= this.#run();
  }

  /**
   * A job has handed out a part of its result that lasts for `durationMs`: the next one is wanted so much later. So
   * sounds that begin do not wait for the ends of others. Unknown ids are ignored.
   */
  postpone(id: number, durationMs: number): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.dueMs = Math.max(entry.dueMs, this.#time.nowMs()) + durationMs;
  }

  /** Whether `batch` jobs wait, as if they had not come, until this is called with false. */
  hold(isHeld: boolean): void {
    this.#isBatchHeld = isHeld;
    if (!isHeld) this.#loop ??= this.#run();
  }

  /** Resolves when every job has been answered and no model runs. */
  async idle(): Promise<void> {
    for (let busy = this.#busy(); busy !== null; busy = this.#busy()) await busy;
  }

  /** Forgets every job without an answer; a model run that has begun is the last. */
  clear(): void {
    for (const entry of this.#entries.values()) end(entry);
    this.#entries.clear();
  }

  /** Settled when the present run of the loop, or one job's pause, is over; null = there is nothing left to do. */
  #busy(): Promise<void> | null {
    if (this.#loop !== null) return this.#loop;
    for (const { pause } of this.#entries.values()) {
      if (pause !== null) return pause;
    }
    return null;
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#time.letMessagesIn();
      const entry = this.#choose();
      if (entry === null) break;
      await this.#step(entry);
    }
    this.#loop = null;
  }

  #choose(): Entry<Result> | null {
    const nowMs = this.#time.nowMs();
    let best: Entry<Result> | null = null;
    for (const entry of this.#entries.values()) {
      if (entry.pause !== null || (this.#isBatchHeld && entry.rank === BATCH_RANK)) continue;
      if (isStale(entry, nowMs)) this.#fail(entry, 'stale', `not begun within ${entry.job.dueInMs} ms`);
      else if (best === null || goesBefore(entry, best)) best = entry;
    }
    return best;
  }

  async #step(entry: Entry<Result>): Promise<void> {
    const startMs = this.#time.nowMs();
    if (entry.runs === 0) entry.waitMs = startMs - entry.receivedMs;
    entry.runs++;
    let step: IteratorResult<Pause | undefined, Result>;
    try {
      step = await entry.job.steps.next();
    } catch (error) {
      this.#fail(entry, 'model_failed', error instanceof Error ? error.message : String(error));
      return;
    }
    entry.runMs += this.#time.nowMs() - startMs;
    if (step.done) this.#finish(entry, step.value);
    else if (step.value !== undefined) entry.pause = this.#resume(entry, step.value);
  }

  async #resume(entry: Entry<Result>, { until }: Pause): Promise<void> {
    await Promise.allSettled([until]);
    entry.pause = null;
    this.#loop ??= this.#run();
  }

  #finish(entry: Entry<Result>, result: Result): void {
    if (!this.#forget(entry)) return;
    this.#answers.done(entry.job.id, result, { waitMs: entry.waitMs, runMs: entry.runMs, runs: entry.runs });
  }

  #fail(entry: Entry<Result>, code: JobErrorCode, message: string): void {
    if (this.#forget(entry)) this.#answers.failed(entry.job.id, code, message);
  }

  /** Whether the entry was still wanted: its id may meanwhile have been cancelled, even given to another job. */
  #forget(entry: Entry<Result>): boolean {
    if (this.#entries.get(entry.job.id) !== entry) return false;
    return this.#entries.delete(entry.job.id);
  }
}

/** Lets a job free what it holds; a model run of it that has begun is finished first. */
function end(entry: Entry<unknown>): void {
  entry.job.steps.return(undefined).catch(() => undefined);
}

function isStale(entry: Entry<unknown>, nowMs: number): boolean {
  return isDroppable(entry.job.urgency) && entry.runs === 0 && nowMs > entry.dueMs;
}

function goesBefore(a: Entry<unknown>, b: Entry<unknown>): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.dueMs < b.dueMs);
}
