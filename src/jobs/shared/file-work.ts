/** Does one recording of a shared batch, on the gateway that took it from the queue. */
import { type Clock, sleep } from '../../foundation/clock.ts';
import { isDatabaseTrouble } from '../../foundation/database/trouble.ts';
import { isDiskTrouble, toDiskFull } from '../../foundation/folders/disk.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { RecordingTranscript } from '../../recordings/transcribe.ts';
import type { Batch, BatchFile } from '../batch.ts';
import { fileErrorOf } from '../file-error.ts';
import type { Transcripts } from '../transcripts.ts';
import type { BatchTables } from './batch-tables.ts';
import type { JobOutcome } from './job-queue.ts';
import type { FileEnd, WorkTables } from './work-tables.ts';

/** The shortest time between two notes of a file's progress. */
const PROGRESS_PERIOD_MS = 1000;
/** How often it is looked whether a file of which nothing is told, as while it is downloaded, is still wanted. */
const WANTED_PERIOD_MS = 5000;
/** How long after a full disk a file is tried again, perhaps by another gateway. */
const DISK_PERIOD_MS = 10_000;
/** A recording over which so many gateways ended is not given to another. */
const TRIES_MAX = 4;
const STORE_PERIOD_MS = 1000;

interface FileWorkOptions {
  readonly tables: BatchTables;
  readonly work: WorkTables;
  readonly transcripts: Pick<Transcripts, 'make' | 'read'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'batchFiles'>;
  /** Makes the folder in which the files of a batch lie. */
  makeFolder(batchId: string): Promise<void>;
  /** Removes the recording and what was made of it from this gateway's disk. */
  removeFiles(batchId: string, number: number): Promise<void>;
  /** A file has ended. */
  onEnd(batch: Batch): Promise<void>;
}

/** The work of one gateway on shared batches. */
export class FileWork {
  readonly #options: FileWorkOptions;
  readonly #inWork = new Map<string, Promise<JobOutcome>>();

  constructor(options: FileWorkOptions) {
    this.#options = options;
  }

  /**
   * Transcribes a file and stores what came of it. A file that has ended is passed over. One that is in work here, and
   * is given out again because the database was away for long, is waited for: two would write over each other's files.
   * @throws the reason of `signal`; errors of the database
   */
  do(id: string, number: number, signal: AbortSignal): Promise<JobOutcome> {
    const key = `${id} ${number}`;
    const doing = this.#inWork.get(key) ?? this.#do(id, number, signal).finally(() => this.#inWork.delete(key));
    this.#inWork.set(key, doing);
    return doing;
  }

  async #do(id: string, number: number, signal: AbortSignal): Promise<JobOutcome> {
    const { tables, work } = this.#options;
    const [stored, found] = await Promise.all([tables.get(id), tables.file(id, number)]);
    if (stored === undefined || found === undefined) return 'done';
    const batch: Batch = { ...stored.batch, files: [found.file] };
    const tries = await work.begin(id, number);
    if (tries !== null) {
      const end = tries > TRIES_MAX ? tooManyTries() : await this.#try(batch, found.file, signal);
      if (end !== null && 'againInMs' in end) return end;
      if (end !== null) await this.#store(batch, found.file, end, signal);
    }
    await this.#options.onEnd(batch);
    return 'done';
  }

  /** Null = it is not wanted any more. */
  async #try(batch: Batch, file: BatchFile, signal: AbortSignal): Promise<FileEnd | { againInMs: number } | null> {
    const { work, transcripts } = this.#options;
    const unwanted = new AbortController();
    const either = AbortSignal.any([signal, unwanted.signal]);
    const { onProgress, stop } = this.#follow(batch, file, unwanted);
    try {
      await this.#options.makeFolder(batch.id);
      const transcript = await transcripts.make(batch, file, { signal: either, onProgress });
      stop();
      return { state: 'done', transcript, spoken: await this.#spokenOf(batch, file) };
    } catch (error) {
      stop();
      if (unwanted.signal.aborted) return null;
      if (signal.aborted || isDatabaseTrouble(error)) {
        const waitsFor = isDiskTrouble(error) ? diskErrorOf(error) : null;
        await work.giveBack(batch.id, file.number, waitsFor).catch(() => undefined);
        signal.throwIfAborted();
        if (waitsFor !== null) return { againInMs: DISK_PERIOD_MS };
      }
      return {
        state: 'failed',
        error: fileErrorOf(error, batch.id, this.#options.log),
        spoken: await this.#spokenOf(batch, file),
      };
    }
  }

  /** What was said, where that is not all that was asked for. */
  async #spokenOf(batch: Batch, { number }: BatchFile): Promise<RecordingTranscript | null> {
    if (batch.targetLanguage === '') return null;
    return this.#options.transcripts.read(batch, number, true).catch(() => null);
  }

  /** Notes the progress of a file until `stop`, and learns whether it is still wanted. */
  #follow({ id }: Batch, { number }: BatchFile, unwanted: AbortController) {
    const { clock, work } = this.#options;
    let toldMs = Number.NEGATIVE_INFINITY;
    let share = 0;
    const tell = (): void => {
      toldMs = clock.nowMs();
      work.progress(id, number, share).then(
        (isWanted) => {
          if (!isWanted) unwanted.abort(new Error('the batch was cancelled'));
        },
        () => undefined,
      );
    };
    const timer = clock.every(WANTED_PERIOD_MS, tell, true);
    const onProgress = (made: { readonly share: number }): void => {
      share = made.share;
      if (clock.nowMs() - toldMs >= PROGRESS_PERIOD_MS) tell();
    };
    return { onProgress, stop: () => timer.cancel() };
  }

  /** Waits for a database that is away: the work is done already. */
  async #store(batch: Batch, { number }: BatchFile, end: FileEnd, signal: AbortSignal): Promise<void> {
    const { work, clock, metrics, removeFiles } = this.#options;
    for (;;) {
      try {
        const isStored = await work.settle(batch.id, number, end);
        if (isStored) metrics.batchFiles.inc({ outcome: end.state });
        return await removeFiles(batch.id, number);
      } catch (error) {
        if (!isDatabaseTrouble(error)) throw error;
        await sleep(clock, STORE_PERIOD_MS);
        signal.throwIfAborted();
      }
    }
  }
}

function diskErrorOf(error: unknown): NonNullable<BatchFile['error']> {
  const { code, message } = toDiskFull(error);
  return { code, message };
}

function tooManyTries(): FileEnd {
  const message = `${TRIES_MAX} servers ended while they worked on it, and no other one tries`;
  return { state: 'failed', error: { code: 'internal', message }, spoken: null };
}
