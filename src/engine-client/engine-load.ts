import { isDroppable, type JobCost } from '../../engine/contract.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Job } from './job.ts';
import { LoadMeter } from './load-meter.ts';

/** What answered jobs cost: in the metrics, and as the share of engine time that live work takes. */
export class EngineLoad {
  readonly #metrics: Metrics;
  readonly #live: LoadMeter;
  readonly #firm: LoadMeter;

  constructor({ clock, metrics, workers }: { clock: Clock; metrics: Metrics; workers: number }) {
    this.#metrics = metrics;
    this.#live = new LoadMeter(clock, workers);
    this.#firm = new LoadMeter(clock, workers);
  }

  /** The share of all live work. */
  get live(): number {
    return this.#live.share;
  }

  /** The share of live work that is never dropped. */
  get firm(): number {
    return this.#firm.share;
  }

  /** Counts a job that was answered just now. */
  add(job: Job, cost: JobCost): void {
    const { urgency } = job;
    if (urgency !== 'batch') this.#live.add(cost.runMs);
    if (urgency !== 'batch' && !isDroppable(urgency)) this.#firm.add(cost.runMs);
    this.#metrics.engineWait.observe({ urgency }, (job.queuedMs + cost.waitMs) / 1000);
    this.#metrics.laneWait.observe({ lane: urgency === 'batch' ? 'batch' : 'live' }, job.queuedMs / 1000);
    this.#metrics.engineRun.observe({ urgency }, cost.runMs / 1000);
  }
}
