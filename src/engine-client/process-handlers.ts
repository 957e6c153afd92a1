/** What an engine process reports to those that started it. */
import type { FailedMessage, ReadyMessage } from '../../engine/contract.ts';
import type { Job, JobReply } from './job.ts';

/** How a process ended. `lost` were given to it and not answered. */
export interface ProcessEnd {
  readonly outcome: 'drained' | 'refused' | 'died';
  /** What happened, for people. */
  readonly reason: string;
  readonly lost: readonly Job[];
  /** How long it had been ready; null = it never was. */
  readonly readyMs: number | null;
}

/** What a process reports. */
export interface ProcessHandlers {
  /** It is at something that takes a while before it is ready. */
  progress(text: string): void;
  ready(message: ReadyMessage): void;
  /** The engine's answer to `job`, which is no longer in the table. */
  answered(job: Job, answer: JobReply | FailedMessage): void;
  /** It gives no sign of life and has these live jobs. Called again and again while that lasts. */
  withheld(jobs: readonly Job[]): void;
  /** It has answered the question for a sign of life, and has these jobs. */
  alive(jobs: readonly Job[]): void;
  /** It has given no sign of life for so long that another one is wanted in its place. Called again and again. */
  hung(): void;
  /** Called once, after everything the process had said was handled. */
  ended(end: ProcessEnd): void;
}
