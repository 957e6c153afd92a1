/**
 * The order of model runs. A job is a sequence of steps, each of them one model run (or a few short ones) that blocks
 * this thread. Between any two steps messages are received and the most urgent job is chosen again, so that a new job
 * waits for one model run at most. Where a model can, one run is made for several jobs (shared-runs.ts): the most
 * urgent one takes along those that want the same.
 */
import { type EngineJob, isDroppable, type JobCost, type JobErrorCode, URGENCIES, type Urgency } from './contract.ts';
import { makeRun, RunRequest } from './shared-runs.ts';
import type { Time } from './time.ts';

/**
 * Yielded by a job that waits for something outside of this thread: the job goes on when `until` is resolved or
 * rejected.
 */
export interface Pause {
  readonly until: Promise<unknown>;
}

/** What a job yields: nothing, what it waits for, or the run that it wants to share. */
type Yielded = Pause | RunRequest<unknown, unknown> | undefined;

/**
 * A job's work: each `next()` makes one model run, or a few that are over as soon, or comes to one that is shared; the
 * last one returns the result. A job that is forgotten is ended by `return()`.
 */
export type Steps<T> = AsyncGenerator<Yielded, T, void>;

/** Does a job's work at once, with nothing in between; what came of it. */
export async function runThrough<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value;
    if (step.value instanceof RunRequest) await makeRun([step.value]);
    else await Promise.allSettled([step.value?.until]);
  }
}

const BATCH_RANK = URGENCIES.indexOf('batch');

/** A job as the scheduler sees it. */
export interface ScheduledJob<Result> {
  readonly id: number;
  /** Jobs of one kind begin alike: where one waits for a run that others can share, they are begun before it. */
  readonly kind: EngineJob['kind'];
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
  /** The run that it waits for; null = its next step is its own. */
  request: RunRequest<unknown, unknown> | null;
  /** Whether that run is being made: what the job holds must not be freed meanwhile. */
  isInRun: boolean;
  waitMs: number;
  runMs: number;
  runs: number;
}

/**
 * Runs jobs one step at a time: by urgency, then earliest deadline, then arrival. Its length is bounded by the
 * gateway's admission.
 *
 * A job that comes to a shared run takes along, in that order, those that wait for one that fits; a live job takes
 * along no `batch` jobs, whose length it would have to wait for. Before that, jobs of its kind and urgency that have
 * not begun are begun, one step each, while there is room: otherwise jobs that came together would be run one after
 * the other.
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
      request: null,
      isInRun: false,
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
      await this.#step(this.#unbegunFor(entry) ?? entry);
    }
    this.#loop = null;
  }

  #choose(): Entry<Result> | null {
    const nowMs = this.#time.nowMs();
    let best: Entry<Result> | null = null;
    for (const entry of this.#entries.values()) {
      if (!this.#canGoOn(entry)) continue;
      if (isStale(entry, nowMs)) this.#giveUp(entry);
      else if (best === null || goesBefore(entry, best)) best = entry;
    }
    return best;
  }

  #canGoOn({ pause, rank }: Entry<Result>): boolean {
    return pause === null && !(this.#isBatchHeld && rank === BATCH_RANK);
  }

  /**
   * The first job that should be begun before the run that `first` waits for, so that it can share it; null where there
   * is none, or where enough for one run have been begun.
   */
  #unbegunFor(first: Entry<Result>): Entry<Result> | null {
    const { request, rank, job, runs } = first;
    // What has not begun has a first run before it, too.
    if (request === null || request.run.batchMax === 1 || runs > 0) return null;
    if (this.#sharersOf(first).length >= request.run.batchMax) return null;
    const unrun = [...this.#entries.values()].filter(
      (entry) => entry.runs === 0 && entry.rank === rank && entry.job.kind === job.kind && this.#canGoOn(entry),
    );
    const unbegun = unrun.filter((entry) => entry.request === null);
    if (unrun.length - unbegun.length >= request.run.batchMax) return null;
    return unbegun.sort(compare)[0] ?? null;
  }

  /** `first`, which waits for a shared run, and those that it takes along. */
  #sharersOf(first: Entry<Result>): Entry<Result>[] {
    const { request, rank } = first;
    if (request === null || request.run.batchMax === 1) return [first];
    const others = [...this.#entries.values()].filter(
      (entry) =>
        entry !== first &&
        entry.request !== null &&
        (entry.rank === BATCH_RANK) === (rank === BATCH_RANK) &&
        request.fits(entry.request),
    );
    return [first, ...others.sort(compare).slice(0, request.run.batchMax - 1)];
  }

  async #step(entry: Entry<Result>): Promise<void> {
    if (entry.request === null) {
      countRun(entry, this.#time.nowMs());
      const request = await this.#goOn(entry);
      if (request === null) return;
      entry.runs--;
      // What nobody can share needs no other turn of the event loop than what led to it.
      if (request.run.batchMax > 1) return;
    }
    await this.#runFor(this.#sharersOf(entry));
  }

  /** Makes the run that `entries` wait for. Where it fails for several, they are left to wait for one alone. */
  async #runFor(entries: readonly Entry<Result>[]): Promise<void> {
    const startMs = this.#time.nowMs();
    for (const entry of entries) {
      countRun(entry, startMs);
      entry.isInRun = true;
    }
    await makeRun(entries.flatMap(({ request }) => request ?? []));
    const eachMs = (this.#time.nowMs() - startMs) / entries.length;
    for (const entry of entries) {
      entry.isInRun = false;
      entry.runMs += eachMs;
      if (!this.#isWanted(entry)) end(entry);
      else if (entry.request?.isSettled) await this.#goOn(entry);
    }
  }

  /** What a job does by itself until it yields or ends; the run that it waits for then. */
  async #goOn(entry: Entry<Result>): Promise<RunRequest<unknown, unknown> | null> {
    const startMs = this.#time.nowMs();
    entry.request = null;
    let step: IteratorResult<Yielded, Result>;
    try {
      step = await entry.job.steps.next();
    } catch (error) {
      this.#fail(entry, 'model_failed', error instanceof Error ? error.message : String(error));
      return null;
    }
    entry.runMs += this.#time.nowMs() - startMs;
    if (!this.#isWanted(entry)) return null;
    if (step.done) this.#finish(entry, step.value);
    else if (step.value instanceof RunRequest) entry.request = step.value;
    else if (step.value !== undefined) entry.pause = this.#resume(entry, step.value);
    return entry.request;
  }

  async #resume(entry: Entry<Result>, { until }: Pause): Promise<void> {
    await Promise.allSettled([until]);
    entry.pause = null;
    this.#loop ??= this.#run();
  }

  #finish(entry: Entry<Result>, result: Result): void {
    this.#entries.delete(entry.job.id);
    this.#answers.done(entry.job.id, result, { waitMs: entry.waitMs, runMs: entry.runMs, runs: entry.runs });
  }

  #giveUp(entry: Entry<Result>): void {
    end(entry);
    this.#fail(entry, 'stale', `not begun within ${entry.job.dueInMs} ms`);
  }

  #fail(entry: Entry<Result>, code: JobErrorCode, message: string): void {
    if (this.#isWanted(entry) && this.#entries.delete(entry.job.id)) this.#answers.failed(entry.job.id, code, message);
  }

  /** False: its id was meanwhile cancelled, even given to another job. */
  #isWanted(entry: Entry<Result>): boolean {
    return this.#entries.get(entry.job.id) === entry;
  }
}

/** Lets a job free what it holds; a model run of it that has begun is finished first. */
function end(entry: Entry<unknown>): void {
  if (!entry.isInRun) entry.job.steps.return(undefined).catch(() => undefined);
}

/** A model run of this job begins at `nowMs`. */
function countRun(entry: Entry<unknown>, nowMs: number): void {
  if (entry.runs === 0) entry.waitMs = nowMs - entry.receivedMs;
  entry.runs++;
}

function isStale(entry: Entry<unknown>, nowMs: number): boolean {
  return isDroppable(entry.job.urgency) && entry.runs === 0 && nowMs > entry.dueMs;
}

function goesBefore(a: Entry<unknown>, b: Entry<unknown>): boolean {
  return compare(a, b) < 0;
}

/** Negative where `a` goes first. */
function compare(a: Entry<unknown>, b: Entry<unknown>): number {
  return a.rank - b.rank || a.dueMs - b.dueMs;
}
