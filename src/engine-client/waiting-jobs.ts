/** The jobs that wait in the gateway for an engine, live ones and those that can wait. */
import { isDroppable, type Urgency } from '../../engine/contract.ts';
import type { Lanes } from '../foundation/metrics/lane-metrics.ts';
import { FairQueue } from './fair-queue.ts';
import type { Job } from './job.ts';
import { UrgencyQueue } from './urgency-queue.ts';

/** Live jobs that may wait while no engine is ready: a final and a partial for each of 256 tracks. */
const LIVE_MAX = 512;

/** Batch pieces of at most 10 s that may wait: about 80 MB of audio. */
const BATCH_MAX = 256;

export class WaitingJobs {
  readonly #live = new UrgencyQueue<Job>(LIVE_MAX);
  readonly #batch = new FairQueue<Job>(BATCH_MAX);

  get size(): number {
    return this.#live.size + this.#batch.size;
  }

  /** The urgency of each of them. */
  get urgencies(): Urgency[] {
    return [...this.#live, ...this.#batch].map(({ urgency }) => urgency);
  }

  /** Both queues, the one that goes first before the other. */
  get queues(): readonly (UrgencyQueue<Job> | FairQueue<Job>)[] {
    return [this.#live, this.#batch];
  }

  /**
   * Adds `job`. Where its queue is full one job fails: one that may be dropped with `stale`, else the newcomer with
   * `unavailable`.
   */
  add(job: Job): void {
    const dropped = this.#queueOf(job).push(job);
    if (dropped === null) return;
    if (isDroppable(dropped.urgency)) dropped.fail('stale', 'more urgent jobs filled the queue');
    else dropped.fail('unavailable', 'the queue for the engines is full');
  }

  /** Whether `job`, a live one, waits. */
  hasLive(job: Job): boolean {
    return this.#live.has(job);
  }

  /** Takes `job` out. To be called before its urgency changes; false when it does not wait. */
  remove(job: Job): boolean {
    return this.#queueOf(job).remove(job);
  }

  /** Fails every job with `unavailable`. */
  refuse(message: string): void {
    for (const queue of this.queues) {
      for (let job = queue.pop(); job !== undefined; job = queue.pop()) job.fail('unavailable', message);
    }
  }

  /** How many wait at `nowMs`, and since when. */
  lanes(nowMs: number): Lanes {
    const lane = (jobs: Iterable<Job>) => {
      const waiting = [...jobs];
      return {
        depth: waiting.length,
        ageMs: waiting.reduce((age, job) => Math.max(age, nowMs - job.submittedAtMs), 0),
      };
    };
    return { live: lane(this.#live), batch: lane(this.#batch) };
  }

  #queueOf(job: Job): UrgencyQueue<Job> | FairQueue<Job> {
    return job.urgency === 'batch' ? this.#batch : this.#live;
  }
}
