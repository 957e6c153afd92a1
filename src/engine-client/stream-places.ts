/** Which engine process may remember the beginning of which stream. */
import { LRUCache } from 'lru-cache';
import type { EngineProcess } from './engine-process.ts';
import type { Job } from './job.ts';

/** Utterances that go on at the same time, in all calls. */
const STREAMS_MAX = 1024;

/**
 * Gives a job to the process that had its stream last, where that costs less than what the process has computed of it
 * already, and the job is in time there.
 */
export class StreamPlaces {
  readonly #places = new LRUCache<number, WeakRef<EngineProcess>>({ max: STREAMS_MAX });

  /** `best`, which would begin `job` first, or the process that had its stream last. */
  choose(job: Job, best: EngineProcess, nowMs: number): EngineProcess {
    const place = job.stream === null ? undefined : this.#places.get(job.stream)?.deref();
    if (place === undefined || place === best || !place.accepts(job)) return best;
    const beforeMs = place.workBefore(job.urgency);
    const jobMs = place.costs === null ? 0 : job.estimateMs(place.costs);
    const isWorth = beforeMs - best.workBefore(job.urgency) < jobMs;
    return isWorth && nowMs + beforeMs + jobMs <= job.dueAtMs ? place : best;
  }

  /** `process` is given `job`. */
  note(job: Job, process: EngineProcess): void {
    if (job.stream !== null) this.#places.set(job.stream, new WeakRef(process));
  }
}
