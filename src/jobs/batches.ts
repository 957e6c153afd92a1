/** The batches of one gateway: who may begin one, what becomes of it, and for how long it is kept. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '../clock.ts';
import { TrunklineError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Recording } from '../recordings/transcribe.ts';
import type { Settings } from '../settings.ts';
import { type Batch, type BatchFile, fileViewOf, viewOf } from './batch.ts';
import { type Home, openHome } from './home.ts';
import type { InputSettings } from './inputs.ts';
import { Runner, readResult } from './runner.ts';
import { Store } from './store.ts';
import { deliver, RETRY_DELAYS_MS } from './webhook.ts';

const SWEEP_PERIOD_MS = 60_000;
const BATCH_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface BatchesOptions {
  readonly settings: InputSettings & Pick<Settings, 'BATCH_DIR' | 'BATCHES_MAX' | 'RESULT_TTL_MS' | 'WEBHOOK_SECRET'>;
  readonly recordings: Pick<Recordings, 'transcribe'>;
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
}

/** What is wanted of a batch. */
export type Order = Pick<Batch, 'channels' | 'idempotency'> & {
  readonly webhookUrl: string | null;
  readonly files: readonly Pick<BatchFile, 'name' | 'source'>[];
};

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
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly #life = new AbortController();
  readonly #retries = new Set<Timer>();
  #folder = '';
  #opening: Promise<Opened> | null = null;
  #sweeping: Timer | null = null;

  constructor(options: BatchesOptions) {
    this.#options = options;
    const folderOf = ({ id }: Batch): string => join(this.#folder, id);
    this.#runner = new Runner({ ...options, folderOf, onSettled: (batch, file) => this.#settle(batch, file) });
  }

  /** Goes on with what an earlier gateway left in BATCH_DIR. @throws Error when the folder cannot be used */
  async resume(): Promise<void> {
    if (this.#options.settings.BATCH_DIR !== '') await this.#open();
  }

  /** A place for one more batch. @throws TrunklineError `draining`, `too_many_batches` */
  async draft(tenant: string): Promise<Draft> {
    this.#assertRoom(tenant);
    const id = randomUUID();
    const reserved = { id, tenant, folder: '' };
    this.#drafts.set(id, reserved);
    try {
      const { home } = await this.#open();
      const draft = { ...reserved, folder: join(home.folder, id) };
      await mkdir(draft.folder);
      return draft;
    } catch (error) {
      this.#drafts.delete(id);
      throw error;
    }
  }

  /** Takes a draft's place and files away. Does nothing to one that was begun. */
  async discard({ id, folder }: Draft): Promise<void> {
    if (this.#drafts.delete(id)) await rm(folder, { recursive: true, force: true });
  }

  /**
   * Begins a batch. From when this resolves it outlives the gateway. A request repeated under its idempotency key gets the batch of the first one.
   * @throws TrunklineError `idempotency_conflict` when the key came with another request before
   */
  async begin(draft: Draft, { webhookUrl, files, ...order }: Order): Promise<{ batch: Batch; isNew: boolean }> {
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

  /** The transcript of a file. @throws TrunklineError `batch_not_found`, `result_not_ready` */
  async result(tenant: string, id: string, number: number): Promise<Recording> {
    const batch = this.get(tenant, id);
    const file = batch.files[number];
    if (file === undefined)
      throw new TrunklineError('batch_not_found', `the batch has no file ${number}, expected 0 to ${batch.files.length - 1}`);
    if (file.state !== 'done') throw new TrunklineError('result_not_ready', `file ${number} is ${file.state}, expected it to be done`);
    return readResult(join(this.#folder, id), number);
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
      await rm(join(this.#folder, id, String(file.number)), { force: true });
    }
    await this.#end(batch);
    return batch;
  }

  /** Tells `listener` of each file that comes to its end, then `null` at the end of the batch. Returns how to stop that. */
  watch(id: string, listener: (file: BatchFile | null) => void): () => void {
    this.#news.on(id, listener);
    return () => void this.#news.off(id, listener);
  }

  /** Stops all work. What is not done is begun anew by the next gateway. */
  async close(): Promise<void> {
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
    if (this.#life.signal.aborted) throw new TrunklineError('draining', 'the gateway is shutting down and takes no new batches');
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

  #findRepeated(tenant: string, asked: Batch['idempotency']): Batch | undefined {
    if (asked === null) return undefined;
    const earlier = this.list(tenant).find(({ idempotency }) => idempotency?.key === asked.key);
    if (earlier === undefined || earlier.idempotency?.hash === asked.hash) return earlier;
    throw new TrunklineError('idempotency_conflict', 'this Idempotency-Key came with another request before, expected a new key');
  }

  async #settle(batch: Batch, file: BatchFile): Promise<void> {
    await this.#put(batch, [file]);
    this.#options.metrics.batchFiles.inc({ outcome: file.state });
    this.#news.emit(batch.id, file);
    if (batch.state !== 'running' || batch.files.some(({ state }) => state === 'waiting')) return;
    batch.state = 'done';
    await this.#end(batch);
  }

  async #end(batch: Batch): Promise<void> {
    batch.endedMs = this.#nowMs();
    await this.#put(batch, batch.files);
    this.#count();
    this.#news.emit(batch.id, null);
    void this.#notify(batch);
  }

  async #notify(batch: Batch): Promise<void> {
    const { webhook } = batch;
    if (webhook === null || this.#life.signal.aborted || !this.#all.has(batch.id)) return;
    const { settings, clock, metrics, log } = this.#options;
    const { webhook: _webhook, ...view } = viewOf(batch, settings.RESULT_TTL_MS);
    const body = JSON.stringify({ type: 'batch.ended', batch: { ...view, files: batch.files.map(fileViewOf) } });
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
    await rm(join(this.#folder, batch.id), { recursive: true, force: true });
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
