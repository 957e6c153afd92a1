/** The batches of one gateway, from their beginning to their removal. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Clock, Timer } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { isDiskTrouble, toDiskFull } from '../foundation/folders/disk.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { expandFolders, type InputSettings } from '../recordings/inputs.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { RecordingTranscript } from '../recordings/transcribe.ts';
import type { Translator } from '../recordings/translate.ts';
import {
  type Batch,
  type BatchFile,
  type BatchView,
  type FileView,
  fileViewOf,
  type ResultLine,
  type ResultsFrom,
  tallyOf,
  viewOf,
} from './batch.ts';
import { BatchIndex, type Draft } from './batch-index.ts';
import { BatchWaits } from './batch-waits.ts';
import { BatchWebhooks } from './batch-webhooks.ts';
import { BelievedClock } from './believed-clock.ts';
import { DataFolderError, removeOldDataFolders } from './data-folder.ts';
import { type DiskListener, retryOnDiskTrouble } from './disk-retry.ts';
import { reportDiskWaits } from './disk-waits.ts';
import { Runner } from './runner.ts';
import { Storage } from './storage.ts';
import { Transcripts } from './transcripts.ts';

/** Files in work at once, of all tenants. */
const FILES_MAX = 8;
const SWEEP_PERIOD_MS = 60_000;

/** What batches need of the gateway. */
export interface BatchesOptions {
  readonly settings: InputSettings &
    Pick<Settings, 'BATCH_DIR' | 'BATCHES_MAX' | 'BATCH_FILES_MAX' | 'RESULT_TTL_MS' | 'WEBHOOK_SECRET'>;
  readonly recordings: Pick<Recordings, 'transcribe' | 'disk'>;
  readonly translator: Translator;
  /** Whether the clock may be believed, so that results are removed by it; null = BATCH_DIR has to tell. */
  readonly mayExpire: (() => boolean) | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What a client asks for. */
export type BatchRequest = Pick<Batch, 'channels' | 'language' | 'hotWords' | 'targetLanguage' | 'idempotency'> & {
  readonly webhookUrl: string | null;
  readonly files: readonly Pick<BatchFile, 'name' | 'source'>[];
};

/** An event of a batch: progress of a file, the end of a file, or the end of the batch. */
export type News =
  | { readonly type: 'progress' | 'file'; readonly file: BatchFile }
  | { readonly type: 'end'; readonly batch: Batch };

/** All batches. Tenants see only their own. */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #index: BatchIndex;
  readonly #runner: Runner;
  readonly #storage: Storage;
  readonly #transcripts: Transcripts;
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly #life = new AbortController();
  readonly #webhooks: BatchWebhooks;
  readonly #disk: DiskListener;
  /** Resolves when a batch that was begun here is on disk. */
  readonly #kept = new WeakMap<Batch, Promise<void>>();
  /** Files whose end is being stored. Their batch ends after that. */
  readonly #settling = new Set<BatchFile>();
  readonly #waits: BatchWaits;
  readonly #believed: BelievedClock;
  #sweeping: Timer | null = null;
  #isDraining = false;

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#waits = new BatchWaits(options.clock);
    this.#believed = new BelievedClock({ ...options, folder: options.settings.BATCH_DIR });
    options.metrics.batchWaitSeconds.watch(() => this.#waits.longestMs / 1000);
    const tellProgress = (batch: Batch, file: BatchFile): void => this.#tell(batch, { type: 'progress', file });
    this.#index = new BatchIndex(options.settings.BATCHES_MAX);
    this.#disk = reportDiskWaits(options);
    this.#storage = new Storage({
      folder: options.settings.BATCH_DIR,
      clock: options.clock,
      log: options.log,
      disk: this.#disk,
      recordingDisk: options.recordings.disk,
      onLoad: (batches) => this.#goOn(batches),
      isKnown: (id) => this.#index.has(id),
    });
    this.#transcripts = new Transcripts({
      ...options,
      disk: this.#disk,
      onWait: tellProgress,
      folderOf: (batch) => this.#storage.folderOf(batch),
    });
    this.#webhooks = new BatchWebhooks(options);
    this.#runner = new Runner({
      ...options,
      disk: this.#disk,
      filesMax: FILES_MAX,
      transcribe: (batch, file, watch) => this.#transcripts.make(batch, file, watch),
      onProgress: tellProgress,
      onSettled: (batch, file, signal) => this.#settle(batch, file, signal),
    });
  }

  /**
   * Continues the batches that an earlier gateway left in BATCH_DIR. If the disk is full or fails, this is repeated
   * later. Also removes the temporary folders of killed gateways.
   * @throws ConfigError when the folder cannot be used, or another gateway uses it
   */
  async resume(): Promise<void> {
    const { BATCH_DIR } = this.#options.settings;
    void removeOldDataFolders(this.#options.clock);
    if (BATCH_DIR === '') return;
    try {
      await this.#storage.open();
    } catch (error) {
      if (isDiskTrouble(error)) return this.#resumeLater(error);
      const why = error instanceof Error ? error.message : String(error);
      const remedy =
        error instanceof DataFolderError
          ? 'expected a folder that this gateway alone may write to'
          : 'expected a folder of batches';
      throw new ConfigError([`BATCH_DIR: got ${JSON.stringify(BATCH_DIR)}, ${remedy}, but ${why}`]);
    }
  }

  /**
   * Reserves a place for one more batch.
   * @throws TrunklineError `draining`, `too_many_batches`, `disk_full`; the error of a full disk
   */
  async draft(tenant: string): Promise<Draft> {
    if (this.#isDraining) throw new TrunklineError('draining', 'the server is shutting down and takes no new batches');
    const id = randomUUID();
    const reserved = { id, tenant, folder: '', disk: this.#options.recordings.disk };
    this.#index.addDraft(reserved);
    try {
      return { ...reserved, folder: await this.#storage.makeFolder(id) };
    } catch (error) {
      this.#index.removeDraft(reserved);
      throw error;
    }
  }

  /** Removes a draft and its files. Does nothing when its batch has begun. */
  async discard(draft: Draft): Promise<void> {
    if (this.#index.removeDraft(draft)) await this.#options.recordings.disk.removeFolder(draft.folder);
  }

  /**
   * Begins a batch. When this resolves, the batch is stored and survives a restart. A repeated request with the same
   * idempotency key gets the batch of the first one.
   * @throws TrunklineError `idempotency_conflict` when the key belongs to a different request; `unsupported_model` when
   * there is no translator; `invalid_request` when folders contain too many recordings; DiskError when the batch cannot
   * be stored
   */
  async begin(
    draft: Draft,
    { webhookUrl, files: inputs, ...request }: BatchRequest,
  ): Promise<{ batch: Batch; isNew: boolean }> {
    if (request.targetLanguage !== '') this.#options.translator.assertConfigured();
    const files = await expandFolders(inputs, this.#options.settings);
    const earlier = this.#index.findRepeated(draft.tenant, request.idempotency);
    if (earlier !== undefined) {
      await this.#kept.get(earlier);
      return { batch: earlier, isNew: false };
    }
    const batch: Batch = {
      ...request,
      id: draft.id,
      tenant: draft.tenant,
      createdMs: this.#nowMs(),
      webhook: webhookUrl === null ? null : { url: webhookUrl, state: 'waiting', attempts: 0 },
      state: 'running',
      endedMs: null,
      files: files.map((file, number) => ({ ...file, number, state: 'waiting', durationMs: null, error: null })),
    };
    // Added before it is stored, so that a repeated request finds it meanwhile.
    this.#index.add(batch);
    const kept = this.#storage.put(batch, batch.files);
    this.#kept.set(batch, kept);
    try {
      await kept;
    } catch (error) {
      this.#index.remove(batch);
      throw error;
    }
    this.#index.removeDraft(draft);
    this.#count();
    this.#runner.add(batch);
    return { batch, isNew: true };
  }

  /**
   * The tenant's batches, the newest first.
   * @throws TrunklineError `disk_full` while those of an earlier gateway cannot be read
   */
  list(tenant: string): Batch[] {
    return this.#index.list(tenant);
  }

  /** @throws TrunklineError `batch_not_found`; `disk_full` as {@link list} */
  get(tenant: string, id: string): Batch {
    return this.#index.get(tenant, id);
  }

  /**
   * The transcript of a file, translated if the batch asks for it. `asSpoken` = not translated; it exists even when the
   * translation failed.
   * @throws TrunklineError `batch_not_found`, `result_not_ready`
   */
  async result(tenant: string, id: string, number: number, asSpoken = false): Promise<RecordingTranscript> {
    const batch = this.get(tenant, id);
    const file = batch.files[number];
    if (file === undefined)
      throw new TrunklineError(
        'batch_not_found',
        `the batch has no file ${number}, expected 0 to ${batch.files.length - 1}`,
      );
    const isThere = file.state === 'done' || (asSpoken && file.error?.code === 'translation_failed');
    if (!isThere)
      throw new TrunklineError('result_not_ready', `file ${number} is ${file.state}, expected it to be done`);
    try {
      return await this.#transcripts.read(batch, number, asSpoken);
    } catch (error) {
      // When the disk is full, transcripts may be removed without a record of it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new TrunklineError('batch_not_found', `the transcript of file ${number} was removed`);
    }
  }

  /**
   * The files of a batch from number `from` on, in order, each with its transcript where it has one.
   * @throws TrunklineError `batch_not_found`
   */
  async *results(tenant: string, id: string, { from, asSpoken }: ResultsFrom): AsyncGenerator<ResultLine> {
    const batch = this.get(tenant, id);
    for (const file of batch.files.slice(from)) {
      const made = await this.result(tenant, id, file.number, asSpoken || batch.targetLanguage === '').catch(noneYet);
      yield { file: this.viewFile(file), transcript: made };
    }
  }

  /**
   * Cancels a running batch and keeps its finished transcripts, or removes a batch that has ended.
   * @throws TrunklineError `batch_not_found`
   */
  async cancel(tenant: string, id: string): Promise<Batch> {
    const batch = this.get(tenant, id);
    if (batch.state !== 'running') {
      await this.#remove(batch);
      return batch;
    }
    batch.state = 'cancelled';
    await this.#runner.drop(batch);
    for (const file of batch.files) {
      if (file.state !== 'waiting') continue;
      Object.assign(file, { state: 'cancelled', error: null });
      await this.#storage.removeRecording(batch, file);
    }
    batch.endedMs = this.#nowMs();
    // The client does not wait for a full disk.
    await this.#storage.keepNowOrLater(batch);
    this.#tellEnd(batch);
    return batch;
  }

  /** Calls `listener` with the events of a batch. Returns a function that ends this. */
  watch(id: string, listener: (news: News) => void): () => void {
    this.#news.on(id, listener);
    return () => void this.#news.off(id, listener);
  }

  /** A batch as clients see it. */
  view(batch: Batch): BatchView {
    return viewOf(batch, tallyOf(this.viewFiles(batch)), this.#options.settings.RESULT_TTL_MS);
  }

  /** A batch's files as clients see them. */
  viewFiles(batch: Batch): FileView[] {
    return batch.files.map((file) => this.viewFile(file));
  }

  /** A file as clients see it. */
  viewFile(file: BatchFile): FileView {
    return fileViewOf(file, this.#runner.shareOf(file));
  }

  /** Takes no new batches. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Stops all work. The next gateway repeats what is not done. */
  async close(): Promise<void> {
    this.drain();
    this.#life.abort(new Error('the server is shutting down'));
    await this.#runner.close();
    this.#sweeping?.cancel();
    await this.#storage.close();
  }

  /** Continues the batches of an earlier gateway. */
  #goOn(batches: readonly Batch[]): void {
    this.#index.setUnreadable(null);
    for (const batch of batches) this.#index.add(batch);
    this.#count();
    for (const batch of batches) {
      if (batch.state !== 'running') {
        if (batch.webhook?.state === 'waiting') void this.#notify(batch);
      } else if (batch.files.some(({ state }) => state === 'waiting')) this.#runner.add(batch);
      // The gateway was killed between the last file and the end of the batch.
      else void this.#finish(batch, this.#life.signal).catch(() => undefined);
    }
    this.#sweeping = this.#options.clock.every(SWEEP_PERIOD_MS, () => void this.#sweep(), true);
  }

  /** Repeats the reading of BATCH_DIR until the disk allows it. Calls are served meanwhile. */
  #resumeLater(error: Error): void {
    const { clock, log } = this.#options;
    const { signal } = this.#life;
    this.#index.setUnreadable(toDiskFull(error));
    retryOnDiskTrouble(() => this.#storage.open(), { clock, signal, listener: this.#disk }).catch((err: unknown) => {
      if (!signal.aborted)
        log.error(
          { err },
          'the batches in BATCH_DIR cannot be read; restart the gateway when the folder can be used again',
        );
    });
  }

  async #settle(batch: Batch, file: BatchFile, signal: AbortSignal): Promise<void> {
    this.#settling.add(file);
    try {
      await this.#storage.keep(batch, [file], signal);
      await this.#storage.removeRecording(batch, file);
    } finally {
      this.#settling.delete(file);
    }
    this.#options.metrics.batchFiles.inc({ outcome: file.state });
    this.#tell(batch, { type: 'file', file });
    if (
      batch.state !== 'running' ||
      batch.files.some((other) => other.state === 'waiting' || this.#settling.has(other))
    )
      return;
    await this.#finish(batch, signal);
  }

  #tell(batch: Batch, news: News): void {
    this.#news.emit(batch.id, news);
  }

  async #finish(batch: Batch, signal: AbortSignal): Promise<void> {
    batch.state = 'done';
    batch.endedMs = this.#nowMs();
    await this.#storage.keep(batch, batch.files, signal);
    this.#tellEnd(batch);
  }

  #tellEnd(batch: Batch): void {
    this.#count();
    this.#tell(batch, { type: 'end', batch });
    void this.#notify(batch);
  }

  /** Tells by webhook of the end of a batch, unless it is removed before. Never rejects. */
  #notify(batch: Batch): Promise<void> {
    const { signal } = this.#life;
    return this.#webhooks.deliver(batch, signal, {
      describe: () => (this.#index.holds(batch) ? { batch: this.view(batch), files: this.viewFiles(batch) } : null),
      onAttempt: () => void this.#storage.keep(batch, [], signal).catch(() => undefined),
    });
  }

  async #sweep(): Promise<void> {
    const { settings } = this.#options;
    this.#count();
    const oldestMs = (await this.#mayExpire()) ? this.#nowMs() - settings.RESULT_TTL_MS : 0;
    const expired = this.#index.all.filter(({ endedMs }) => endedMs !== null && endedMs <= oldestMs);
    for (const batch of expired) {
      await this.#remove(batch).catch((err: unknown) =>
        this.#options.log.error({ err, batch: batch.id }, 'a batch could not be removed'),
      );
    }
    await this.#storage.keepRest();
  }

  async #mayExpire(): Promise<boolean> {
    const { mayExpire, settings } = this.#options;
    if (mayExpire !== null) return mayExpire();
    // A temporary folder is gone with its process.
    if (settings.BATCH_DIR === '') return true;
    const times = this.#index.all.map(({ createdMs, endedMs }) => endedMs ?? createdMs);
    return this.#believed.mayExpire(times.length === 0 ? null : Math.max(...times));
  }

  async #remove(batch: Batch): Promise<void> {
    await this.#storage.remove(batch);
    this.#index.remove(batch);
  }

  #count(): void {
    const running = this.#index.all.filter(({ state }) => state === 'running');
    this.#options.metrics.batches.set(running.length);
    const isWaiting = ({ state }: BatchFile): boolean => state === 'waiting';
    this.#waits.follow(
      running.map(({ id, createdMs, files }) => ({ id, createdMs, waiting: files.filter(isWaiting).length })),
    );
  }

  #nowMs(): number {
    return this.#options.clock.wall().getTime();
  }
}

/** A file without a transcript is told without one. */
function noneYet(error: unknown): null {
  if (error instanceof TrunklineError && error.code === 'result_not_ready') return null;
  throw error;
}
