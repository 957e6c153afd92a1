/**
 * Where the work of batches waits until a gateway takes it. One interface, so that the library behind it may change.
 */

/** Something to be done once, by one gateway. It names rows alone: the truth is in the tables. */
export type QueuedJob =
  | { readonly kind: 'file'; readonly batchId: string; readonly number: number }
  | { readonly kind: 'webhook'; readonly batchId: string };

/** `{ againInMs }`: it could not be done just now, by this gateway; whoever is free takes it after that time. */
export type JobOutcome = 'done' | { readonly againInMs: number };

/**
 * Does one job. A job may be done twice, when its gateway died or the database was away: doing it again must do no
 * harm. `signal` aborts when the queue closes; the job then goes to another gateway.
 */
export type JobWork = (job: QueuedJob, signal: AbortSignal) => Promise<JobOutcome>;

/** The jobs of all gateways. */
export interface JobQueue {
  /**
   * Adds a job for whichever gateway is free, or for the gateway at the address `only`. One that waits or is in work
   * is not added twice. @throws DatabaseAway and other errors of the database
   */
  add(job: QueuedJob, only?: string): Promise<void>;
  /** Does jobs from now on, some at once. @throws the error of the database */
  begin(work: JobWork): Promise<void>;
  /** Takes no more jobs that others can do; those in work, and those that only this gateway can do, go on. */
  pause(): Promise<void>;
  /** Hands over what is in work, and closes. Idempotent. */
  close(): Promise<void>;
}
