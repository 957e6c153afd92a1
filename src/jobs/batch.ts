/** A batch: recordings of one tenant that are transcribed as one job. */
import type { ErrorCode } from '../foundation/errors.ts';
import type { ChannelMode } from '../recordings/decode-messages.ts';
import type { Source } from '../recordings/inputs.ts';
import type { RecordingTranscript } from '../recordings/transcribe.ts';

/** An id of a batch, and the name of its folder. */
export const BATCH_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** One recording of a batch. */
export interface BatchFile {
  /** Counts from 0. */
  readonly number: number;
  readonly name: string;
  readonly source: Source;
  state: 'waiting' | 'done' | 'failed' | 'cancelled';
  durationMs: number | null;
  /** Why it failed, or what it waits for. */
  error: { readonly code: ErrorCode; readonly message: string } | null;
}

/** The delivery of the message that a batch has ended. */
export interface Webhook {
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
  /** What is spoken, as the client named it; absent = as DEFAULT_LANGUAGE says. */
  readonly language?: string;
  /** Names and phrases that are likely to be said. */
  readonly hotWords?: readonly string[];
  /** English name of the language to translate into, in lower case; empty = none. */
  readonly targetLanguage: string;
  /** The client's idempotency key, and a hash of its request. */
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
  /** From 0 to 1; every file counts the same. */
  readonly progress: number;
  readonly counts: Readonly<Record<'total' | FileView['state'], number>>;
  readonly webhook: { readonly state: Webhook['state']; readonly attempts: number } | null;
}

/** A file of a batch as clients see it. */
export interface FileView extends Pick<BatchFile, 'number' | 'name' | 'durationMs' | 'error'> {
  readonly state: BatchFile['state'] | 'running';
  /** How much of it has been transcribed, from 0 to 1. */
  readonly progress: number;
}

/** A batch and its files, as clients see them. */
export interface WholeBatchView {
  readonly batch: BatchView;
  readonly files: readonly FileView[];
}

/** Where the results of a batch begin, and whether they are as it was spoken, not translated. */
export interface ResultsFrom {
  /** Number of the first file. */
  readonly from: number;
  readonly asSpoken: boolean;
}

/** A file of a batch, and its transcript; null = it has none, or none yet. */
export interface ResultLine {
  readonly file: FileView;
  readonly transcript: RecordingTranscript | null;
}

/** How far the files of a batch are. */
export interface FileTally {
  readonly counts: BatchView['counts'];
  /** The sum of the files' progress, those that have ended counting 1. */
  readonly through: number;
}

/** The tally of `files`. */
export function tallyOf(files: readonly FileView[]): FileTally {
  const count = (wanted: FileView['state']): number => files.filter((file) => file.state === wanted).length;
  const through = files.reduce(
    (sum, file) => sum + (file.state === 'waiting' || file.state === 'running' ? file.progress : 1),
    0,
  );
  const [waiting, running, done] = [count('waiting'), count('running'), count('done')];
  return {
    counts: { total: files.length, waiting, running, done, failed: count('failed'), cancelled: count('cancelled') },
    through,
  };
}

/** `batch` without its private fields. */
export function viewOf(batch: Omit<Batch, 'files'>, { counts, through }: FileTally, ttlMs: number): BatchView {
  const { id, state, createdMs, endedMs, webhook } = batch;
  return {
    id,
    state,
    createdAt: new Date(createdMs).toISOString(),
    endedAt: endedMs === null ? null : new Date(endedMs).toISOString(),
    expiresAt: endedMs === null ? null : new Date(endedMs + ttlMs).toISOString(),
    progress: twoDecimals(through / counts.total),
    counts,
    webhook: webhook === null ? null : { state: webhook.state, attempts: webhook.attempts },
  };
}

/** A file without its private fields. `share` = how much has been transcribed; null = it is not in work. */
export function fileViewOf({ number, name, state, durationMs, error }: BatchFile, share: number | null): FileView {
  const isRunning = state === 'waiting' && share !== null;
  const progress = state === 'done' ? 1 : twoDecimals(share ?? 0);
  return { number, name, state: isRunning ? 'running' : state, progress, durationMs, error };
}

/** Rounds down, so that only finished work shows 1. */
function twoDecimals(share: number): number {
  return Math.floor(share * 100) / 100;
}
