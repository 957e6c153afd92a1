/** A batch: recordings of one tenant that are transcribed as one job. */
import type { ErrorCode } from '../errors.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';

/** Where a recording comes from. An upload is in the batch's folder from the start; a path lies under BATCH_INPUT_DIR. */
export type Source = { readonly kind: 'upload' } | { readonly kind: 'url' | 'path'; readonly location: string };

/** One recording of a batch. */
export interface BatchFile {
  /** Counts from 0. */
  readonly number: number;
  readonly name: string;
  readonly source: Source;
  state: 'waiting' | 'done' | 'failed' | 'cancelled';
  durationMs: number | null;
  error: { readonly code: ErrorCode; readonly message: string } | null;
}

/** What becomes of the news of a batch's end. */
interface Webhook {
  readonly url: string;
  state: 'waiting' | 'delivered' | 'failed';
  attempts: number;
}

/** A job. Times are ms since 1970. */
export interface Batch {
  readonly id: string;
  readonly tenant: string;
  readonly createdMs: number;
  readonly channels: ChannelMode;
  /** The client's name for the request, and a hash of what it asked for. */
  readonly idempotency: { readonly key: string; readonly hash: string } | null;
  readonly webhook: Webhook | null;
  state: 'running' | 'done' | 'cancelled';
  endedMs: number | null;
  readonly files: readonly BatchFile[];
}

/** A batch as clients see it. */
export interface BatchView {
  readonly id: string;
  readonly state: Batch['state'];
  readonly createdAt: string;
  readonly endedAt: string | null;
  /** When it and its results are removed. */
  readonly expiresAt: string | null;
  readonly counts: {
    readonly total: number;
    readonly waiting: number;
    readonly done: number;
    readonly failed: number;
    readonly cancelled: number;
  };
  readonly webhook: { readonly state: Webhook['state']; readonly attempts: number } | null;
}

/** A file of a batch as clients see it. */
export type FileView = Pick<BatchFile, 'number' | 'name' | 'state' | 'durationMs' | 'error'>;

/** What clients may know of `batch`. */
export function viewOf(batch: Batch, ttlMs: number): BatchView {
  const { id, state, createdMs, endedMs, webhook, files } = batch;
  const count = (wanted: BatchFile['state']): number => files.filter((file) => file.state === wanted).length;
  return {
    id,
    state,
    createdAt: new Date(createdMs).toISOString(),
    endedAt: endedMs === null ? null : new Date(endedMs).toISOString(),
    expiresAt: endedMs === null ? null : new Date(endedMs + ttlMs).toISOString(),
    counts: { total: files.length, waiting: count('waiting'), done: count('done'), failed: count('failed'), cancelled: count('cancelled') },
    webhook: webhook === null ? null : { state: webhook.state, attempts: webhook.attempts },
  };
}

/** What clients may know of one file. */
export function fileViewOf({ number, name, state, durationMs, error }: BatchFile): FileView {
  return { number, name, state, durationMs, error };
}
