import type { SoundMessage, Urgency } from '../../engine/contract.ts';
import type { JobCosts } from '../../engine/job-costs.ts';
import type { Job } from './job.ts';
import { isAsUrgent } from './urgency-queue.ts';

/** A job, and how many samples of its sound the process has told. */
interface AssignedJob {
  readonly job: Job;
  toldSamples: number;
}

/** The jobs that one engine process was given and has not answered. */
export class AssignedJobs {
  readonly #jobs = new Map<number, AssignedJob>();
  /** The job that has the process to itself. */
  #lone: Job | null = null;

  get size(): number {
    return this.#jobs.size;
  }

  /** All of them, in the order in which they were given. */
  get all(): Job[] {
    return [...this.#jobs.values()].map(({ job }) => job);
  }

  /** Those of live calls. */
  get live(): Job[] {
    return this.all.filter(({ urgency }) => urgency !== 'batch');
  }

  /** Whether a job has the process to itself. */
  get hasLone(): boolean {
    return this.#lone !== null;
  }

  /** Whether one of them may wait. */
  get hasBatch(): boolean {
    return this.#some((urgency) => urgency === 'batch');
  }

  /**
   * Whether there is room for `job`, one that may wait: one is enough for a process, unless its recogniser reads
   * `batchMax` of them in one run.
   */
  hasRoomFor({ work }: Job, batchMax: number): boolean {
    const batch = this.all.filter(({ urgency }) => urgency === 'batch');
    if (batch.length === 0) return true;
    const isReading = ({ kind }: Job['work']): boolean => kind === 'transcribe';
    return batch.length < batchMax && isReading(work) && batch.every((other) => isReading(other.work));
  }

  /** Whether one of them is neither a batch job nor voice detection, which is too short to count. */
  get hasSpeech(): boolean {
    return this.#some((urgency) => urgency !== 'batch' && urgency !== 'detect');
  }

  has(job: Job): boolean {
    return this.#jobs.has(job.id);
  }

  add(job: Job): void {
    if (job.mustTravelAlone) this.#lone = job;
    this.#jobs.set(job.id, { job, toldSamples: 0 });
  }

  /** Passes on what the process has told of a job's sound. */
  tell({ id, samples, rateHz }: SoundMessage): void {
    const assigned = this.#jobs.get(id);
    if (assigned === undefined) return;
    assigned.job.tell(samples, rateHz, assigned.toldSamples);
    assigned.toldSamples += samples.length;
  }

  /**
   * Removes the job with this id, which is answered; undefined where there is none. `toldSamples` = how much of its
   * sound came before the answer.
   */
  take(id: number): AssignedJob | undefined {
    const assigned = this.#jobs.get(id);
    if (assigned === undefined) return undefined;
    this.#jobs.delete(id);
    if (this.#lone === assigned.job) this.#lone = null;
    return assigned;
  }

  /** Removes all of them. */
  takeAll(): Job[] {
    const { all } = this;
    this.#jobs.clear();
    this.#lone = null;
    return all;
  }

  /**
   * Estimated ms of model runs that go before a new job of `urgency`. Transcriptions share runs, `batchMax` of them at
   * most: as many take as long as one of their mean length, and all of them no less than the longest.
   */
  workBefore(urgency: Urgency, costs: JobCosts, batchMax: number): number {
    let [readingMs, longestMs, otherMs] = [0, 0, 0];
    for (const { job } of this.#jobs.values()) {
      if (!isAsUrgent(job.urgency, urgency)) continue;
      const estimateMs = job.estimateMs(costs);
      if (job.work.kind !== 'transcribe') otherMs += estimateMs;
      else {
        readingMs += estimateMs;
        longestMs = Math.max(longestMs, estimateMs);
      }
    }
    return otherMs + Math.max(readingMs / batchMax, longestMs);
  }

  #some(isMeant: (urgency: Urgency) => boolean): boolean {
    for (const { job } of this.#jobs.values()) {
      if (isMeant(job.urgency)) return true;
    }
    return false;
  }
}
