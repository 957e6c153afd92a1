import type { Job, JobReply } from './job.ts';

/** With what the one who asked for a job changes its mind. */
export interface JobSignals {
  /** Aborted when the answer is no longer wanted. */
  readonly signal?: AbortSignal;
  /** Aborted when somebody waits for it now. */
  readonly hurry?: AbortSignal;
}

/**
 * Waits for the answer to `job`, and meanwhile does what its signals ask for.
 * @throws EngineError as the job fails
 */
export async function replyTo(
  job: Job,
  { signal, hurry }: JobSignals,
  act: { cancel(): void; hurry(): void },
): Promise<JobReply> {
  const onCancel = () => act.cancel();
  const onHurry = () => act.hurry();
  signal?.addEventListener('abort', onCancel, { once: true });
  hurry?.addEventListener('abort', onHurry, { once: true });
  if (hurry?.aborted) onHurry();
  try {
    return await job.reply;
  } finally {
    signal?.removeEventListener('abort', onCancel);
    hurry?.removeEventListener('abort', onHurry);
  }
}
