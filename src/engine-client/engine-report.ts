/** How the engines are, one by one, for people who look after them. */
import type { RecogniserRole, Urgency } from '../../engine/contract.ts';

/** One engine process, or the place of one that does not run. Times of day are wall-clock times. */
export interface EngineReport {
  /** What its recogniser reads. */
  readonly role: RecogniserRole;
  /** `silent`: it has work and gives no sign of life. */
  readonly state: 'stopped' | 'starting' | 'ready' | 'silent';
  readonly pid: number | null;
  /** What its recogniser runs on: `cpu`, or `cuda:` and the number of the GPU; null = it is not ready. */
  readonly device: string | null;
  /** Share of its time that model runs took over the last 5 s, 0 to 1. */
  readonly busyShare: number;
  /** Jobs that it has and has not answered. */
  readonly jobs: number;
  /** Times that it died or hung and was started again. */
  readonly restarts: number;
  readonly lastRestart: { readonly at: Date; readonly reason: string } | null;
}

/** Jobs of one urgency: those that no engine has yet, and those that engines have. */
export interface QueueReport {
  readonly urgency: Urgency;
  readonly waiting: number;
  readonly assigned: number;
}

/** All engines of a gateway. */
export interface EnginesReport {
  readonly engines: readonly EngineReport[];
  /** Of every urgency, the most urgent first. */
  readonly queue: readonly QueueReport[];
}
