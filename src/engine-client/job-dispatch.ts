/** Jobs on their way between those who ask for them and the engines: who waits, who gets what, and what was lost. */
import { type FailedMessage, isDroppable, URGENCIES } from '../../engine/contract.ts';
import type { Lanes } from '../foundation/metrics/lane-metrics.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { EngineLoad } from './engine-load.ts';
import type { Pool } from './engine-pool.ts';
import type { QueueReport } from './engine-report.ts';
import type { Job, JobReply } from './job.ts';
import { WaitingJobs } from './waiting-jobs.ts';

interface JobDispatchOptions {
  readonly pool: Pool;
  readonly load: EngineLoad;
  readonly metrics: Metrics;
}

export class JobDispatch {
  readonly #pool: Pool;
  readonly #load: EngineLoad;
  readonly #metrics: Metrics;
  readonly #waiting = new WaitingJobs();

  constructor({ pool, load, metrics }: JobDispatchOptions) {
    this.#pool = pool;
    this.#load = load;
    this.#metrics = metrics;
  }

  /** How many jobs no engine has. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** How many of each urgency wait, and how many the engines have. */
  get queue(): QueueReport[] {
    const [waiting, assigned] = [this.#waiting.urgencies, this.#pool.urgencies];
    return URGENCIES.map((urgency) => ({
      urgency,
      waiting: waiting.filter((each) => each === urgency).length,
      assigned: assigned.filter((each) => each === urgency).length,
    }));
  }

  /** How many wait at `nowMs`, and since when. */
  lanes(nowMs: number): Lanes {
    return this.#waiting.lanes(nowMs);
  }

  /** Gives `job` to an engine as soon as there is one for it. */
  add(job: Job): void {
    this.#waiting.add(job);
    this.pump();
  }

  /** To be called whenever there is another job, or an engine has one less. */
  pump(): void {
    this.#deliver();
    this.#pool.balance();
  }

  /** Nobody waits for its answer any more. */
  cancel(job: Job): void {
    this.#forget(job);
    job.fail('cancelled', 'the job was cancelled');
  }

  /** One that waits changes its queue; one that an engine has is asked for there. */
  hurry(job: Job): void {
    if (!job.canHurry) return;
    const isWaiting = this.#waiting.remove(job);
    job.hurry();
    if (isWaiting) this.add(job);
    else this.#pool.hurry(job);
  }

  /** No engine was ready while its answer was of use. */
  expire(job: Job): void {
    this.#waiting.remove(job);
    job.fail('stale', 'no engine was ready in time');
  }

  /** `job` has been answered. */
  settle(job: Job, answer: JobReply | FailedMessage): void {
    if (answer.kind !== 'failed') {
      this.#load.add(job, answer.cost);
      job.resolve(answer);
      if (job.resent) this.#forget(job);
    } else if (!this.#isUnderWay(job)) {
      job.fail(answer.code, answer.message);
    }
    this.pump();
  }

  /** Their engine gives signs of life again: these jobs need not be given to another one. */
  keep(jobs: readonly Job[]): void {
    for (const job of jobs) this.#waiting.remove(job);
    this.pump();
  }

  /**
   * Has jobs sent again that were lost with their engine, or that it keeps to itself. Settles those that are not worth
   * it, and with `unavailable`, which says why no job is taken any more, all of them.
   */
  resend(jobs: readonly Job[], unavailable: string | null): void {
    for (const job of jobs) this.#resend(job, unavailable);
    this.pump();
  }

  /** Fails all that wait with `unavailable`. */
  refuse(message: string): void {
    this.#waiting.refuse(message);
  }

  /**
   * Hands over what can be handed over. Batch waits while a live job does: that one may need an engine to run empty.
   */
  #deliver(): void {
    for (const queue of this.#waiting.queues) {
      for (let job = queue.peek(); job !== undefined; job = queue.peek()) {
        const process = this.#pool.pick(job, { keepOneFree: this.#load.live > 0 });
        if (process === null) return;
        queue.pop();
        this.#pool.deliver(job, process);
      }
    }
  }

  /** Sees to it that nobody works on `job`, or will. */
  #forget(job: Job): void {
    this.#waiting.remove(job);
    this.#pool.cancel(job);
  }

  #resend(job: Job, unavailable: string | null): void {
    if (job.settled || this.#isUnderWay(job)) return;
    if (unavailable !== null) job.fail('unavailable', unavailable);
    else if (isDroppable(job.urgency)) {
      job.fail('stale', 'the engine was lost, and the answer would come too late');
      this.#pool.cancel(job);
    } else if (!job.exhausted) {
      this.#metrics.engineJobsResent.inc();
      this.#waiting.add(job);
    } else if (!this.#pool.has(job)) {
      job.fail('unavailable', 'the engine was lost each time that it was given this job');
    }
  }

  /** Whether `job` waits for an engine, or one that gives signs of life is at work on it. */
  #isUnderWay(job: Job): boolean {
    return this.#waiting.hasLive(job) || this.#pool.isAtWorkOn(job);
  }
}
