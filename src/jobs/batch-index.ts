/** The index of all batches and drafts, by id and tenant. */
import { TrunklineError } from '../foundation/errors.ts';
import type { RecordingDisk } from '../recordings/disk.ts';
import type { Batch } from './batch.ts';

/** A batch that is being received. Its owner begins or discards it. */
export interface Draft {
  readonly id: string;
  readonly tenant: string;
  /** Where uploads are put, each under its number. */
  readonly folder: string;
  readonly disk: RecordingDisk;
}

/** Ended batches of a tenant that are kept, for each that may run: who begins and cancels without end has an end. */
const ENDED_FOR_EACH = 20;

/** How many batches a tenant has. */
export interface BatchCount {
  /** Those that run or are received. */
  readonly open: number;
  readonly ended: number;
}

/** @throws TrunklineError `too_many_batches` when a tenant has so many that another one is refused */
export function requireRoom({ open, ended }: BatchCount, batchesMax: number): void {
  if (open >= batchesMax)
    throw new TrunklineError(
      'too_many_batches',
      `${batchesMax} batches run, which is the most allowed; wait for the end of one`,
    );
  if (ended >= batchesMax * ENDED_FOR_EACH)
    throw new TrunklineError(
      'too_many_batches',
      `${ended} ended batches are kept, expected fewer than ${batchesMax * ENDED_FOR_EACH}; delete some of them`,
    );
}

/** The batches of one gateway and the drafts being received. Tenants see only their own. */
export class BatchIndex {
  readonly #batchesMax: number;
  readonly #batches = new Map<string, Batch>();
  readonly #drafts = new Map<string, Draft>();
  #unreadable: TrunklineError | null = null;

  /** `batchesMax` = BATCHES_MAX, for each tenant. */
  constructor(batchesMax: number) {
    this.#batchesMax = batchesMax;
  }

  /** All batches of all tenants. */
  get all(): readonly Batch[] {
    return [...this.#batches.values()];
  }

  /** Whether there is a batch or a draft with that id. */
  has(id: string): boolean {
    return this.#batches.has(id) || this.#drafts.has(id);
  }

  /** Whether `batch` is still there. */
  holds({ id }: Batch): boolean {
    return this.#batches.has(id);
  }

  add(batch: Batch): void {
    this.#batches.set(batch.id, batch);
  }

  remove({ id }: Batch): void {
    this.#batches.delete(id);
  }

  /**
   * Reserves a place for a batch that will be received.
   * @throws TrunklineError `too_many_batches`; `disk_full` as {@link list}
   */
  addDraft(draft: Draft): void {
    const drafts = [...this.#drafts.values()].filter(({ tenant }) => tenant === draft.tenant);
    const kept = this.list(draft.tenant);
    const running = kept.filter(({ state }) => state === 'running').length;
    requireRoom({ open: running + drafts.length, ended: kept.length - running }, this.#batchesMax);
    this.#drafts.set(draft.id, draft);
  }

  /** Removes a draft. Returns false when there was none. */
  removeDraft({ id }: Pick<Draft, 'id'>): boolean {
    return this.#drafts.delete(id);
  }

  /** Notes why the batches of an earlier gateway cannot be read; null = they were read. */
  setUnreadable(why: TrunklineError | null): void {
    this.#unreadable = why;
  }

  /**
   * The batches of a tenant, the newest first.
   * @throws TrunklineError `disk_full` while those of an earlier gateway cannot be read
   */
  list(tenant: string): Batch[] {
    if (this.#unreadable !== null) throw this.#unreadable;
    return this.all.filter((batch) => batch.tenant === tenant).toReversed();
  }

  /** @throws TrunklineError `batch_not_found`; `disk_full` as {@link list} */
  get(tenant: string, id: string): Batch {
    if (this.#unreadable !== null) throw this.#unreadable;
    const batch = this.#batches.get(id);
    if (batch?.tenant === tenant) return batch;
    throw new TrunklineError('batch_not_found', 'there is no such batch, or it was removed');
  }

  /**
   * The batch that an earlier request with the same idempotency key began.
   * @throws TrunklineError `idempotency_conflict` when that request was a different one
   */
  findRepeated(tenant: string, asked: Batch['idempotency']): Batch | undefined {
    if (asked === null) return undefined;
    const earlier = this.list(tenant).find(({ idempotency }) => idempotency?.key === asked.key);
    if (earlier === undefined || earlier.idempotency?.hash === asked.hash) return earlier;
    throw new TrunklineError(
      'idempotency_conflict',
      'this Idempotency-Key came with another request before, expected a new key',
    );
  }
}
