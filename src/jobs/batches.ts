/** The batches of one gateway: who may begin one, what becomes of it, and for how long it is kept. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '../clock.ts';
import { ConfigError } from '../config.ts';
import { TrunklineError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { RecordingDisk } from '../recordings/disk.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Recording } from '../recordings/transcribe.ts';
import { Translator, type TranslatorSettings } from '../recordings/translate.ts';
import type { Settings } from '../settings.ts';
import { type Batch, type BatchFile, type BatchView, type FileView, fileViewOf, viewOf } from './batch.ts';
import { type Home, HomeError, openHome } from './home.ts';
import { expandFolders, type InputSettings } from './inputs.ts';
import { Runner } from './runner.ts';
import { Store } from './store.ts';
import { Transcripts } from './transcripts.ts';
import { deliver, RETRY_DELAYS_MS } from './webhook.ts';

/** Files in work at once, of all tenants and of one. */
const FILES_MAX = 8;
const FILES_OF_TENANT_MAX = 2;
const SWEEP_PERIOD_MS = 60_000;
const BATCH_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface BatchesOptions {
  readonly settings: InputSettings &
    TranslatorSettings &
    Pick<Settings, 'BATCH_DIR' | 'BATCHES_MAX' | 'BATCH_FILES_MAX' | 'RESULT_TTL_MS' | 'WEBHOOK_SECRET'>;
  readonly recordings: Pick<Recordings, 'transcribe' | 'disk'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A batch that is being received. Whoever has it begins or discards it. */
export interface Draft {
  readonly id: string;
  readonly tenant: string;
  /** Uploads belong in here, each under its number. */
  readonly folder: string;
  readonly disk: RecordingDisk;
}

/** What is wanted of a batch. */
export type Order = Pick<Batch, 'channels' | 'targetLanguage' | 'idempotency'> & {
  readonly webhookUrl: string | null;
  readonly files: readonly Pick<BatchFile, 'name' | 'source'>[];
};

/** What happens to a batch: a file of it has got on or come to its end, or the batch has. */
export type News = { readonly type: 'progress' | 'file'; readonly file: BatchFile } | { readonly type: 'end' };

interface Opened {
  readonly home: Home;
  readonly store: Store;
}

/** All batches. Tenants see their own alone. */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #all = new Map<string, Batch>();
  readonly #drafts = new Map<string, Draft>();
  readonly #runner: Runner;
  readonly #transcripts: Transcripts;
  readonly #translator: Translator;
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly #life = new AbortController();
  readonly #retries = new Set<Timer>();
  /** Files whose end is being noted: their batch's end comes after. */
  readonly #settling = new Set<BatchFile>();
  #folder = '';
  #opening: Promise<Opened> | null = null;
  #sweeping: Timer | null = null;
  #isDraining = false;

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#translator = new Translator(options);
    this.#transcripts = new Transcripts({ ...options, translator: this.#translator, folderOf: ({ id }) => join(this.#folder, id) });
    this.#runner = new Runner({
      ...options,
      filesMax: FILES_MAX,
      filesOfTenantMax: FILES_OF_TENANT_MAX,
      transcribe: (batch, file, watch) => this.#transcripts.make(batch, file, watch),
      onProgress: (batch, file) => this.#tell(batch, { type: 'progress', file }),
      onSettled: (batch, file) => this.#settle(batch, file),
    });
  }

  /** Goes on with what an earlier gateway left in BATCH_DIR. @throws ConfigError when the folder cannot be used, or another gateway uses it */
  async resume(): Promise<void> {
    const { BATCH_DIR } = this.#options.settings;
    if (BATCH_DIR === '') return;
    try {
      await this.#open();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const remedy = error instanceof HomeError ? 'expected a folder that this gateway alone may write to' : 'expected a folder of batches';
      throw new ConfigError([`BATCH_DIR: got ${JSON.stringify(BATCH_DIR)}, ${remedy}, but ${why}`]);
    }
  }

  /** A place for one more batch. @throws TrunklineError `draining`, `too_many_batches` */
  async draft(tenant: string): Promise<Draft> {
    this.#assertRoom(tenant);
    const id = randomUUID();
    const reserved = { id, tenant, folder: '', disk: this.#options.recordings.disk };
    this.#drafts.set(id, reserved);
    try {
      const { home } = await this.#open();
      const draft = { ...reserved, folder: join(home.folder, id) };
      await mkdir(draft.folder, { mode: 0o700 });
      return draft;
    } catch (error) {
      this.#drafts.delete(id);
      throw error;
    }
  }

  /** Takes a draft's place and files away. Does nothing to one that was begun. */
  async discard({ id, folder }: Draft): Promise<void> {
    if (this.#drafts.delete(id)) await this.#options.recordings.disk.removeFolder(folder);
  }

  /**
   * Begins a batch. From when this resolves it outlives the gateway. A request repeated under its idempotency key gets the batch of the first one.
   * @throws TrunklineError `idempotency_conflict` when the key came with another request before; `unsupported_model` when nothing here can translate;
   * `invalid_request` when folders hold too many recordings
   */
  async begin(draft: Draft, { webhookUrl, files: inputs, ...order }: Order): Promise<{ batch: Batch; isNew: boolean }> {
    if (order.targetLanguage !== '') this.#translator.assertConfigured();
    const files = await expandFolders(inputs, this.#options.settings);
    const earlier = this.#findRepeated(draft.tenant, order.idempotency);
    if (earlier !== undefined) return { batch: earlier, isNew: false };
    const batch: Batch = {
      ...{ id: draft.id, tenant: draft.tenant, createdMs: this.#nowMs(), ...order },
      webhook: webhookUrl === null ? null : { url: webhookUrl, state: 'waiting', attempts: 0 },
      ...{ state: 'running', endedMs: null },
      files: files.map((file, number) => ({ ...file, number, state: 'waiting', durationMs: null, error: null })),
    };
    // Before it is on disk, so that a repetition that comes meanwhile finds it.
    this.#all.set(batch.id, batch);
    try {
      const { store } = await this.#open();
      await store.put(batch, batch.files);
    } catch (error) {
      this.#all.delete(batch.id);
      throw error;
    }
    this.#drafts.delete(draft.id);
    this.#count();
    this.#runner.add(batch);
    return { batch, isNew: true };
  }

  /** The tenant's batches, the newest first. */
  list(tenant: string): Batch[] {
    return [...this.#all.values()].filter((batch) => batch.tenant === tenant).toReversed();
  }

  /** @throws TrunklineError `batch_not_found` */
  get(tenant: string, id: string): Batch {
    const batch = this.#all.get(id);
    if (batch?.tenant === tenant) return batch;
    throw new TrunklineError('batch_not_found', 'there is no such batch, or it was removed');
  }

  /**
   * The transcript of a file, in the batch's language or `asSpoken`, which is there also where only the translation failed.
   * @throws TrunklineError `batch_not_found`, `result_not_ready`
   */
  async result(tenant: string, id: string, number: number, asSpoken = false): Promise<Recording> {
    const batch = this.get(tenant, id);
    const file = batch.files[number];
    if (file === undefined)
      throw new TrunklineError('batch_not_found', `the batch has no file ${number}, expected 0 to ${batch.files.length - 1}`);
    const isThere = file.state === 'done' || (asSpoken && file.error?.code === 'translation_failed');
    if (!isThere) throw new TrunklineError('result_not_ready', `file ${number} is ${file.state}, expected it to be done`);
    return this.#transcripts.read(batch, number, asSpoken);
  }

  /** Cancels a batch that runs, keeping what is done; removes one that has ended. @throws TrunklineError `batch_not_found` */
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
      file.state = 'cancelled';
      await this.#removeRecording(batch, file);
    }
    await this.#end(batch);
    return batch;
  }

  /** Tells `listener` what happens to a batch. Returns how to stop that. */
  watch(id: string, listener: (news: News) => void): () => void {
    this.#news.on(id, listener);
    return () => void this.#news.off(id, listener);
  }

  /** What clients may know of a batch. */
  view(batch: Batch): BatchView {
    return viewOf(batch, this.viewFiles(batch), this.#options.settings.RESULT_TTL_MS);
  }

  /** What clients may know of a batch's files. */
  viewFiles(batch: Batch): FileView[] {
    return batch.files.map((file) => this.viewFile(file));
  }

  /** What clients may know of one file. */
  viewFile(file: BatchFile): FileView {
    return fileViewOf(file, this.#runner.shareOf(file));
  }

  /** Takes no new batches. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Stops all work. What is not done is begun anew by the next gateway. */
  async close(): Promise<void> {
    this.drain();
    this.#life.abort(new Error('the gateway is shutting down'));
    this.#sweeping?.cancel();
    for (const timer of this.#retries) timer.cancel();
    await this.#runner.close();
    const opened = await this.#opening?.catch(() => null);
    await opened?.store.close();
    if (opened?.home.isTemporary) await rm(opened.home.folder, { recursive: true, force: true });
  }

  #assertRoom(tenant: string): void {
    const { BATCHES_MAX } = this.#options.settings;
    if (this.#isDraining) throw new TrunklineError('draining', 'the gateway is shutting down and takes no new batches');
    const drafts = [...this.#drafts.values()].filter((draft) => draft.tenant === tenant);
    if (this.list(tenant).length + drafts.length < BATCHES_MAX) return;
    throw new TrunklineError(
      'too_many_batches',
      `${BATCHES_MAX} batches are kept, which is the most allowed (BATCHES_MAX); delete ended ones`,
    );
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#load().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #load(): Promise<Opened> {
    const home = await openHome(this.#options.settings.BATCH_DIR);
    const store = await Store.open(home.folder);
    this.#folder = home.folder;
    for (const batch of await store.load()) {
      this.#all.set(batch.id, batch);
      if (batch.state === 'running') this.#runner.add(batch);
      else if (batch.webhook?.state === 'waiting') void this.#notify(batch);
    }
    await this.#removeStrays();
    for (const batch of this.#all.values()) await this.#tidy(batch);
    this.#count();
    this.#sweeping = this.#options.clock.every(SWEEP_PERIOD_MS, () => void this.#sweep(), true);
    return { home, store };
  }

  /** Folders of batches that were being received when a gateway was killed. */
  async #removeStrays(): Promise<void> {
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      const isStray = entry.isDirectory() && BATCH_ID.test(entry.name) && !this.#all.has(entry.name) && !this.#drafts.has(entry.name);
      if (isStray) await rm(join(this.#folder, entry.name), { recursive: true, force: true });
    }
  }

  /** Removes recordings whose transcript was noted just before a gateway was killed, and counts those that wait. */
  async #tidy(batch: Batch): Promise<void> {
    // One look at the folder: most batches that are kept have nothing to remove.
    const names = new Set(await readdir(join(this.#folder, batch.id)).catch(noneIfMissing));
    for (const file of batch.files.filter(({ number }) => names.has(String(number)))) {
      if (file.state !== 'waiting') await this.#removeRecording(batch, file);
      else await this.#options.recordings.disk.adopt(join(this.#folder, batch.id, String(file.number)));
    }
  }

  async #removeRecording(batch: Batch, { number }: BatchFile): Promise<void> {
    await this.#options.recordings.disk.remove(join(this.#folder, batch.id, String(number)));
  }

  #findRepeated(tenant: string, asked: Batch['idempotency']): Batch | undefined {
    if (asked === null) return undefined;
    const earlier = this.list(tenant).find(({ idempotency }) => idempotency?.key === asked.key);
    if (earlier === undefined || earlier.idempotency?.hash === asked.hash) return earlier;
    throw new TrunklineError('idempotency_conflict', 'this Idempotency-Key came with another request before, expected a new key');
  }

  async #settle(batch: Batch, file: BatchFile): Promise<void> {
    this.#settling.add(file);
    try {
      await this.#put(batch, [file]);
      await this.#removeRecording(batch, file);
    } finally {
      this.#settling.delete(file);
    }
    this.#options.metrics.batchFiles.inc({ outcome: file.state });
    this.#tell(batch, { type: 'file', file });
    if (batch.state !== 'running' || batch.files.some((other) => other.state === 'waiting' || this.#settling.has(other))) return;
    batch.state = 'done';
    await this.#end(batch);
  }

  #tell(batch: Batch, news: News): void {
    this.#news.emit(batch.id, news);
  }

  async #end(batch: Batch): Promise<void> {
    batch.endedMs = this.#nowMs();
    await this.#put(batch, batch.files);
    this.#count();
    this.#tell(batch, { type: 'end' });
    void this.#notify(batch);
  }

  async #notify(batch: Batch): Promise<void> {
    const { webhook } = batch;
    if (webhook === null || this.#life.signal.aborted || !this.#all.has(batch.id)) return;
    const { settings, clock, metrics, log } = this.#options;
    const { webhook: _webhook, ...view } = this.view(batch);
    const body = JSON.stringify({ type: 'batch.ended', batch: { ...view, files: this.viewFiles(batch) } });
    const isDelivered = await deliver({ url: webhook.url, id: batch.id, body, settings, clock, signal: this.#life.signal });
    if (this.#life.signal.aborted) return;
    const delayMs = RETRY_DELAYS_MS[webhook.attempts];
    webhook.attempts += 1;
    if (isDelivered) webhook.state = 'delivered';
    else if (delayMs === undefined) webhook.state = 'failed';
    else this.#retry(batch, delayMs);
    metrics.webhooks.inc({ outcome: webhook.state === 'waiting' ? 'retried' : webhook.state });
    await this.#put(batch, []).catch((err: unknown) => log.error({ err, batch: batch.id }, 'a webhook could not be noted'));
  }

  #retry(batch: Batch, delayMs: number): void {
    const timer = this.#options.clock.after(
      delayMs,
      () => {
        this.#retries.delete(timer);
        void this.#notify(batch);
      },
      true,
    );
    this.#retries.add(timer);
  }

  async #sweep(): Promise<void> {
    const oldestMs = this.#nowMs() - this.#options.settings.RESULT_TTL_MS;
    const expired = [...this.#all.values()].filter(({ endedMs }) => endedMs !== null && endedMs <= oldestMs);
    for (const batch of expired) {
      await this.#remove(batch).catch((err: unknown) => this.#options.log.error({ err, batch: batch.id }, 'a batch could not be removed'));
    }
  }

  async #remove(batch: Batch): Promise<void> {
    const { store } = await this.#open();
    await store.remove(batch.id);
    this.#all.delete(batch.id);
    await this.#options.recordings.disk.removeFolder(join(this.#folder, batch.id));
  }

  /** Not for one that was removed meanwhile. */
  async #put(batch: Batch, files: readonly BatchFile[]): Promise<void> {
    const { store } = await this.#open();
    if (this.#all.has(batch.id)) await store.put(batch, files);
  }

  #count(): void {
    this.#options.metrics.batches.set([...this.#all.values()].filter(({ state }) => state === 'running').length);
  }

  #nowMs(): number {
    return this.#options.clock.wall().getTime();
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
