/** Batches that several gateways do together: their rows and their queue are in PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Timer } from '../../foundation/clock.ts';
import { describeTrouble, isDatabaseTrouble } from '../../foundation/database/trouble.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import { expandFolders } from '../../recordings/inputs.ts';
import {
  BATCH_ID,
  type Batch,
  type BatchView,
  fileViewOf,
  type ResultLine,
  type ResultsFrom,
  tallyOf,
  viewOf,
  type WholeBatchView,
} from '../batch.ts';
import { type Draft, requireRoom } from '../batch-index.ts';
import type { BatchNews, BatchResults, BatchService, FileResult } from '../batch-service.ts';
import { BatchWaits } from '../batch-waits.ts';
import { BatchWebhooks } from '../batch-webhooks.ts';
import type { BatchesOptions, BatchRequest } from '../batches.ts';
import { type DataFolder, openDataFolder, removeOldDataFolders } from '../data-folder.ts';
import { reportDiskWaits } from '../disk-waits.ts';
import { Transcripts } from '../transcripts.ts';
import type { BatchDatabase, FileToQueue, StoredBatch } from './batch-rows.ts';
import { BatchTables } from './batch-tables.ts';
import { BatchWatch } from './batch-watch.ts';
import { FileWork } from './file-work.ts';
import type { JobOutcome, JobQueue, QueuedJob } from './job-queue.ts';
import { WorkTables } from './work-tables.ts';

/** Transcripts that are in memory at once while all of a batch are read. */
const RESULTS_PER_READ = 20;
/** How often it is looked whether a gateway died between two steps. */
const UPKEEP_PERIOD_MS = 10_000;
const UPKEEP_CLOSE_MAX_MS = 5000;
/** How long a gateway may be away, as during its update, before the recordings on its disk count as lost. */
const AWAY_MAX_MS = 120_000;

const LOST = {
  code: 'recording_lost',
  message: 'the server that had the recording is gone; send it again',
} as const;

interface SharedBatchesOptions extends Omit<BatchesOptions, 'mayExpire'> {
  /** The rows; closed by its owner. */
  readonly db: BatchDatabase;
  /** Closed with the batches. */
  readonly queue: JobQueue;
  /** Files in work at once on each gateway that any could do, and as many that only it can do. */
  readonly placesOfGateway: number;
  /** This gateway's address: recordings on its disk are done by the gateway that has it. */
  readonly address: string;
}

/** The batches of all gateways, and the work of this one on them. */
export class SharedBatches implements BatchService {
  readonly #options: SharedBatchesOptions;
  readonly #tables: BatchTables;
  readonly #work: WorkTables;
  readonly #files: FileWork;
  readonly #webhooks: BatchWebhooks;
  readonly #watch: BatchWatch;
  readonly #waits: BatchWaits;
  readonly #drafts = new Map<string, Draft>();
  #folder: DataFolder | null = null;
  #upkeep: Timer | null = null;
  #isDraining = false;
  #keepingUp: Promise<void> | null = null;
  #isTroubled = false;

  constructor(options: SharedBatchesOptions) {
    const { db, clock } = options;
    this.#options = options;
    this.#tables = new BatchTables(db);
    this.#waits = new BatchWaits(clock);
    options.metrics.batchWaitSeconds.watch(() => this.#waits.longestMs / 1000);
    this.#work = new WorkTables(db);
    const disk = reportDiskWaits(options);
    const transcripts = new Transcripts({
      ...options,
      disk,
      onWait: () => undefined,
      folderOf: ({ id }) => this.#folderOf(id),
    });
    this.#files = new FileWork({
      ...options,
      tables: this.#tables,
      work: this.#work,
      transcripts,
      makeFolder: async (id) => void (await mkdir(this.#folderOf(id), { recursive: true, mode: 0o700 })),
      removeFiles: (id, number) => this.#removeFiles(id, number),
      onEnd: (batch) => this.#onFileEnd(batch),
    });
    this.#webhooks = new BatchWebhooks(options);
    this.#watch = new BatchWatch({ clock, look: (id) => this.#look(id) });
  }

  /** Takes part in the work. @throws DataFolderError when BATCH_DIR cannot be used; the error of disk or database */
  async open(): Promise<void> {
    const { settings, clock, log, queue } = this.#options;
    void removeOldDataFolders(clock);
    const onWait = (owner: string): void =>
      log.warn({ owner }, 'BATCH_DIR is in use; waiting some seconds for its owner to end');
    this.#folder = await openDataFolder(settings.BATCH_DIR, { clock, onWait });
    await this.#adoptFiles();
    await queue.begin((job, signal) => this.#do(job, signal));
    this.#upkeep = clock.every(UPKEEP_PERIOD_MS, () => this.#keepUpOnce(), true);
    this.#keepUpOnce();
  }

  /** Takes no new batches, and no more work that others can do; what only this gateway has goes on. */
  drain(): void {
    this.#isDraining = true;
    void this.#options.queue.pause().catch(() => undefined);
  }

  /** Hands over what is in work, and ends. */
  async close(): Promise<void> {
    this.drain();
    this.#upkeep?.cancel();
    this.#upkeep = null;
    this.#watch.close();
    await this.#options.queue.close();
    // It looks at the folder, which is another one's when it is closed.
    if (this.#keepingUp !== null) await settlesWithin(this.#options.clock, this.#keepingUp, UPKEEP_CLOSE_MAX_MS);
    await this.#folder?.close();
  }

  async draft(tenant: string): Promise<Draft> {
    if (this.#isDraining) throw new TrunklineError('draining', 'the server is shutting down and takes no new batches');
    const { BATCHES_MAX } = this.#options.settings;
    const kept = await this.#tables.count(tenant);
    // Counted last: others may have come while the table was asked.
    const drafts = [...this.#drafts.values()].filter((draft) => draft.tenant === tenant).length;
    requireRoom({ ...kept, open: kept.open + drafts }, BATCHES_MAX);
    const id = randomUUID();
    const draft = { id, tenant, folder: this.#folderOf(id), disk: this.#options.recordings.disk };
    this.#drafts.set(id, draft);
    try {
      await mkdir(draft.folder, { recursive: true, mode: 0o700 });
      return draft;
    } catch (error) {
      this.#drafts.delete(id);
      throw error;
    }
  }

  async discard({ id, folder, disk }: Draft): Promise<void> {
    if (this.#drafts.delete(id)) await disk.removeFolder(folder);
  }

  async begin(draft: Draft, { webhookUrl, files: inputs, ...request }: BatchRequest) {
    const { settings, translator, address, clock } = this.#options;
    if (request.targetLanguage !== '') translator.assertConfigured();
    const files = await expandFolders(inputs, settings);
    const batch: Batch = {
      ...request,
      id: draft.id,
      tenant: draft.tenant,
      createdMs: clock.wall().getTime(),
      webhook: webhookUrl === null ? null : { url: webhookUrl, state: 'waiting', attempts: 0 },
      state: 'running',
      endedMs: null,
      files: files.map((file, number) => ({ ...file, number, state: 'waiting', durationMs: null, error: null })),
    };
    const outcome = await this.#tables.add(batch, address, settings.BATCHES_MAX).catch((error: unknown) => {
      // It may be stored all the same. If it is, its uploads are needed; if not, they are strays.
      if (isDatabaseTrouble(error)) this.#drafts.delete(draft.id);
      throw error;
    });
    if (outcome === 'repeated') return { batch: await this.#repeated(batch), isNew: false };
    this.#drafts.delete(draft.id);
    await this.#orLater(this.#queueNext(batch.tenant));
    return {
      batch: viewOf(batch, tallyOf(batch.files.map((file) => fileViewOf(file, null))), this.#ttlMs),
      isNew: true,
    };
  }

  async list(tenant: string): Promise<readonly BatchView[]> {
    const found = await this.#tables.list(tenant);
    return found.map(({ batch, tally }) => viewOf(batch, tally, this.#ttlMs));
  }

  async get(tenant: string, id: string): Promise<WholeBatchView> {
    return this.#whole(await this.#find(tenant, id));
  }

  async result(tenant: string, id: string, number: number, asSpoken: boolean): Promise<FileResult> {
    const { channels, targetLanguage } = (await this.#find(tenant, id)).batch;
    const isSpoken = asSpoken || targetLanguage === '';
    const found = await this.#tables.file(id, number);
    if (found === undefined) throw new TrunklineError('batch_not_found', `the batch has no file ${number}`);
    const { state } = found.file;
    const transcript = state === 'done' || isSpoken ? await this.#tables.transcript(id, number, isSpoken) : undefined;
    if (transcript === undefined)
      throw new TrunklineError('result_not_ready', `file ${number} is ${state}, expected it to be done`);
    return { transcript, isSpoken, channels, targetLanguage };
  }

  async results(tenant: string, id: string, where: ResultsFrom): Promise<BatchResults> {
    const { channels, targetLanguage } = (await this.#find(tenant, id)).batch;
    const isSpoken = where.asSpoken || targetLanguage === '';
    return { channels, targetLanguage, isSpoken, lines: this.#lines(id, { ...where, asSpoken: isSpoken }) };
  }

  async *#lines(id: string, { from, asSpoken }: ResultsFrom): AsyncGenerator<ResultLine, void, undefined> {
    for (let next = from; ; ) {
      const found = await this.#tables.results(id, { from: next, asSpoken }, RESULTS_PER_READ);
      for (const { file, share, transcript } of found) yield { file: fileViewOf(file, share), transcript };
      if (found.length < RESULTS_PER_READ) return;
      next += RESULTS_PER_READ;
    }
  }

  async cancel(tenant: string, id: string): Promise<BatchView> {
    const { batch } = await this.#find(tenant, id);
    if (await this.#tables.cancel(id)) {
      await this.#orLater(this.#onEnd(id));
      return (await this.get(tenant, id)).batch;
    }
    const { batch: view } = await this.#whole({ batch, home: '' });
    await this.#tables.remove(id);
    return view;
  }

  watch(id: string, listener: (news: BatchNews) => void): Promise<() => void> {
    return this.#watch.add(id, listener);
  }

  get #ttlMs(): number {
    return this.#options.settings.RESULT_TTL_MS;
  }

  #folderOf(id: string): string {
    return join(this.#folder?.folder ?? '', id);
  }

  async #find(tenant: string, id: string): Promise<StoredBatch> {
    const found = await this.#tables.get(id);
    if (found?.batch.tenant === tenant) return found;
    throw new TrunklineError('batch_not_found', 'there is no such batch, or it was removed');
  }

  async #whole({ batch }: StoredBatch): Promise<WholeBatchView> {
    const stored = await this.#tables.files(batch.id);
    const files = stored.map(({ file, share }) => fileViewOf(file, share));
    return { batch: viewOf(batch, tallyOf(files), this.#ttlMs), files };
  }

  async #look(id: string): Promise<(WholeBatchView & Pick<Batch, 'webhook'>) | undefined> {
    const found = await this.#tables.get(id);
    return found && { ...(await this.#whole(found)), webhook: found.batch.webhook };
  }

  /** @throws TrunklineError `idempotency_conflict` */
  async #repeated({ tenant, idempotency }: Batch): Promise<BatchView> {
    const earlier = await this.#tables.findRepeated(tenant, idempotency?.key ?? '');
    if (earlier !== undefined && earlier.batch.idempotency?.hash === idempotency?.hash)
      return (await this.#whole(earlier)).batch;
    throw new TrunklineError(
      'idempotency_conflict',
      'this Idempotency-Key came with another request before, expected a new key',
    );
  }

  #do(job: QueuedJob, signal: AbortSignal) {
    return job.kind === 'file' ? this.#files.do(job.batchId, job.number, signal) : this.#notify(job.batchId, signal);
  }

  /** Any gateway makes one attempt at the webhook. @throws the reason of `signal`; errors of the database */
  async #notify(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const found = await this.#look(id);
    if (found === undefined || found.batch.state === 'running' || found.webhook?.state !== 'waiting') return 'done';
    const after = await this.#webhooks.attempt(found, found.webhook, signal);
    if (after === null) throw signal.reason;
    await this.#work.noteWebhook(id, after);
    return after.againInMs === null ? 'done' : { againInMs: after.againInMs };
  }

  async #onFileEnd({ id, tenant }: Batch): Promise<void> {
    const ended = await this.#work.finish(id);
    if (ended.length > 0) await this.#onEnd(id);
    // With the batch its tenant may have ended, and the others have larger parts.
    const tenants = ended.length > 0 ? await this.#work.waitingTenants() : [tenant];
    for (const each of tenants) await this.#queueNext(each);
  }

  async #onEnd(id: string): Promise<void> {
    await this.#options.queue.add({ kind: 'webhook', batchId: id });
  }

  async #queueNext(tenant: string): Promise<void> {
    const shares = await this.#work.shares(this.#options.placesOfGateway);
    for (const file of await this.#tables.queueNext(tenant, shares)) await this.#queue(file);
  }

  #queue({ batchId, number, only }: FileToQueue): Promise<void> {
    return this.#options.queue.add({ kind: 'file', batchId, number }, only);
  }

  /** What was asked for is stored: a next step for which the database is away is left to the upkeep. */
  async #orLater(step: Promise<void>): Promise<void> {
    await step.catch((error: unknown) => {
      if (!isDatabaseTrouble(error)) throw error;
    });
  }

  /** One at a time: a slow database is not asked twice. */
  #keepUpOnce(): void {
    this.#keepingUp ??= this.#keepUp().finally(() => {
      this.#keepingUp = null;
    });
  }

  /** Each step may have been the last one of a gateway that died: whoever is there takes the next. */
  async #keepUp(): Promise<void> {
    const { queue, metrics, log } = this.#options;
    try {
      await this.#work.failLost(AWAY_MAX_MS, LOST);
      await this.#work.finish();
      await this.#tables.removeExpired(this.#ttlMs);
      for (const file of await this.#work.queued()) await this.#queue(file);
      for (const tenant of await this.#work.waitingTenants()) await this.#queueNext(tenant);
      for (const batchId of await this.#work.waitingWebhooks()) await queue.add({ kind: 'webhook', batchId });
      const running = await this.#tables.running();
      metrics.batches.set(running.length);
      this.#waits.follow(running);
      await this.#removeStrays();
      this.#isTroubled = false;
    } catch (error) {
      if (this.#upkeep === null) return;
      if (!isDatabaseTrouble(error)) log.error({ err: error }, 'the upkeep of batches failed');
      else if (!this.#isTroubled) log.warn({ reason: describeTrouble(error) }, 'batches wait for their database');
      this.#isTroubled = true;
    }
  }

  /** Counts the recordings that an earlier life of this gateway left. */
  async #adoptFiles(): Promise<void> {
    const { recordings } = this.#options;
    for (const id of await this.#foldersHere())
      for (const name of await readdir(this.#folderOf(id))) await recordings.disk.adopt(join(this.#folderOf(id), name));
  }

  /** Removes the folders of batches that have ended, and of drafts whose gateway was killed. */
  async #removeStrays(): Promise<void> {
    const { recordings } = this.#options;
    const folders = await this.#foldersHere();
    // A draft may become a batch while the table is asked.
    const drafts = new Set(this.#drafts.keys());
    const running = new Set(await this.#work.running(folders));
    for (const id of folders)
      if (!running.has(id) && !drafts.has(id)) await recordings.disk.removeFolder(this.#folderOf(id));
  }

  async #foldersHere(): Promise<string[]> {
    const entries = await readdir(this.#folder?.folder ?? '', { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && BATCH_ID.test(entry.name)).map(({ name }) => name);
  }

  async #removeFiles(id: string, number: number): Promise<void> {
    const { disk } = this.#options.recordings;
    for (const name of [String(number), `${number}.json`, `${number}.spoken.json`])
      await disk.remove(join(this.#folderOf(id), name)).catch(() => undefined);
  }
}
