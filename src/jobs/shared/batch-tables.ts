/** The batches of all gateways, as their clients use them. All methods reject with DatabaseAway while it is away. */
import { sql, type Transaction } from 'kysely';
import { POSTGRES_NOW_MS } from '../../foundation/database/postgres.ts';
import type { RecordingTranscript } from '../../recordings/transcribe.ts';
import type { Batch, BatchView, FileTally, FileView } from '../batch.ts';
import {
  type BatchDatabase,
  type BatchTablesOf,
  batchOf,
  batchRowOf,
  FILE_COLUMNS,
  type FileToQueue,
  fileOf,
  fileRowOf,
  type StoredBatch,
  type StoredFile,
  toQueue,
} from './batch-rows.ts';

/** A file's row has seven values, and a query at most 65,535. */
const FILES_AT_ONCE = 5000;

/** A batch, and how far its files are. */
interface TalliedBatch extends StoredBatch {
  readonly tally: FileTally;
}

/** What clients ask of the tables. */
export class BatchTables {
  readonly #db: BatchDatabase;

  constructor(db: BatchDatabase) {
    this.#db = db;
  }

  /**
   * Stores a new batch, unless the tenant has `batchesMax` already (`full`), or has one of the same idempotency key
   * (`repeated`).
   */
  add(batch: Batch, home: string, batchesMax: number): Promise<'added' | 'full' | 'repeated'> {
    return this.#ofTenant(batch.tenant, async (db) => {
      const key = batch.idempotency?.key ?? null;
      const ofTenant = db.selectFrom('batches').where('tenant', '=', batch.tenant);
      if (key !== null && (await ofTenant.select('id').where('idempotency_key', '=', key).executeTakeFirst()))
        return 'repeated';
      const { kept } = await ofTenant.select(({ fn }) => fn.countAll<number>().as('kept')).executeTakeFirstOrThrow();
      if (kept >= batchesMax) return 'full';
      await db.insertInto('batches').values(batchRowOf(batch, home)).execute();
      for (let at = 0; at < batch.files.length; at += FILES_AT_ONCE) {
        const files = batch.files.slice(at, at + FILES_AT_ONCE).map((file) => fileRowOf(batch.id, file));
        await db.insertInto('batch_files').values(files).execute();
      }
      return 'added';
    });
  }

  /** How many batches a tenant has. */
  async count(tenant: string): Promise<number> {
    const { kept } = await this.#db
      .selectFrom('batches')
      .where('tenant', '=', tenant)
      .select(({ fn }) => fn.countAll<number>().as('kept'))
      .executeTakeFirstOrThrow();
    return kept;
  }

  /** The batch of an idempotency key; undefined = there is none. */
  async findRepeated(tenant: string, key: string): Promise<StoredBatch | undefined> {
    const row = await this.#db
      .selectFrom('batches')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('idempotency_key', '=', key)
      .executeTakeFirst();
    return row && batchOf(row);
  }

  /** The tenant's batches, the newest first. */
  async list(tenant: string): Promise<TalliedBatch[]> {
    const rows = await this.#db
      .selectFrom('batches')
      .selectAll()
      .where('tenant', '=', tenant)
      .orderBy('created_ms', 'desc')
      .orderBy('id', 'desc')
      .execute();
    const tallies = await this.#tallies(rows.map(({ id }) => id));
    return rows.map((row) => ({ ...batchOf(row), tally: tallies.get(row.id) ?? EMPTY }));
  }

  /** Undefined = there is none. */
  async get(id: string): Promise<StoredBatch | undefined> {
    const row = await this.#db.selectFrom('batches').selectAll().where('id', '=', id).executeTakeFirst();
    return row && batchOf(row);
  }

  /** The files of a batch, by number. */
  async files(id: string): Promise<StoredFile[]> {
    const rows = await this.#db
      .selectFrom('batch_files')
      .select(FILE_COLUMNS)
      .where('batch_id', '=', id)
      .orderBy('number')
      .execute();
    return rows.map(fileOf);
  }

  /** One file of a batch; undefined = there is none. */
  async file(id: string, number: number): Promise<StoredFile | undefined> {
    const row = await this.#db
      .selectFrom('batch_files')
      .select(FILE_COLUMNS)
      .where('batch_id', '=', id)
      .where('number', '=', number)
      .executeTakeFirst();
    return row && fileOf(row);
  }

  /** The transcript of a file; undefined = there is none. */
  async transcript(id: string, number: number, asSpoken: boolean): Promise<RecordingTranscript | undefined> {
    const row = await this.#db
      .selectFrom('batch_files')
      .select(['transcript', 'spoken'])
      .where('batch_id', '=', id)
      .where('number', '=', number)
      .executeTakeFirst();
    const json = asSpoken ? (row?.spoken ?? row?.transcript) : row?.transcript;
    return json ? (JSON.parse(json) as RecordingTranscript) : undefined;
  }

  /** Cancels a running batch. Returns false when it has ended. */
  cancel(id: string): Promise<boolean> {
    return this.#db.transaction().execute(async (db) => {
      const { numUpdatedRows } = await db
        .updateTable('batches')
        .set({ state: 'cancelled', ended_ms: sql<number>`${sql.raw(POSTGRES_NOW_MS)}` })
        .where('id', '=', id)
        .where('state', '=', 'running')
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await db
        .updateTable('batch_files')
        .set({ state: 'cancelled', share: null, error: null })
        .where('batch_id', '=', id)
        .where('state', '=', 'waiting')
        .execute();
      return true;
    });
  }

  async remove(id: string): Promise<void> {
    await this.#db.deleteFrom('batches').where('id', '=', id).execute();
  }

  /** Removes the batches that ended `ttlMs` ago or before, by the clock of the database, as all times of their ends. */
  async removeExpired(ttlMs: number): Promise<void> {
    const oldestMs = sql<number>`${sql.raw(POSTGRES_NOW_MS)} - ${ttlMs}::bigint`;
    await this.#db.deleteFrom('batches').where('ended_ms', '<=', oldestMs).execute();
  }

  /** How many batches run. */
  async countRunning(): Promise<number> {
    const { running } = await this.#db
      .selectFrom('batches')
      .select(({ fn }) => fn.countAll<number>().as('running'))
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow();
    return running;
  }

  /** Marks files of the tenant as queued until `filesMax` are, the oldest first. Returns those that were marked. */
  queueNext(tenant: string, filesMax: number): Promise<FileToQueue[]> {
    return this.#ofTenant(tenant, async (db) => {
      const waiting = db
        .selectFrom('batch_files as file')
        .innerJoin('batches as batch', 'batch.id', 'file.batch_id')
        .where('batch.tenant', '=', tenant)
        .where('batch.state', '=', 'running')
        .where('file.state', '=', 'waiting');
      const { queued } = await waiting
        .where('file.is_queued', '=', 1)
        .select(({ fn }) => fn.countAll<number>().as('queued'))
        .executeTakeFirstOrThrow();
      if (queued >= filesMax) return [];
      const next = await waiting
        .where('file.is_queued', '=', 0)
        .select(['file.batch_id', 'file.number', 'file.source', 'batch.home'])
        .orderBy('batch.created_ms')
        .orderBy('batch.id')
        .orderBy('file.number')
        .limit(filesMax - queued)
        .execute();
      for (const { batch_id, number } of next) {
        const file = db.updateTable('batch_files').where('batch_id', '=', batch_id).where('number', '=', number);
        await file.set({ is_queued: 1 }).execute();
      }
      return next.map(toQueue);
    });
  }

  /** One after the other for each tenant, over all gateways. */
  #ofTenant<T>(tenant: string, work: (db: Transaction<BatchTablesOf>) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(async (db) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`batches of ${tenant}`}, 0))`.execute(db);
      return work(db);
    });
  }

  /** Counted there: a tenant may have a hundred thousand files. */
  async #tallies(ids: readonly string[]): Promise<Map<string, FileTally>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('batch_files')
      .select(({ fn }) => [
        'batch_id',
        sql<FileView['state']>`case when state = 'waiting' and share is not null then 'running' else state end`.as(
          'now',
        ),
        fn.countAll<number>().as('files'),
        sql<number>`sum(case when state = 'waiting' then coalesce(share, 0) else 1 end)`.as('through'),
      ])
      .where('batch_id', 'in', ids)
      .groupBy(['batch_id', 'now'])
      .execute();
    const tallies = new Map<string, FileTally>();
    for (const { batch_id, now, files, through } of rows) {
      const known = tallies.get(batch_id) ?? EMPTY;
      const counts: BatchView['counts'] = {
        ...known.counts,
        total: known.counts.total + files,
        [now]: known.counts[now] + files,
      };
      tallies.set(batch_id, { counts, through: known.through + through });
    }
    return tallies;
  }
}

const EMPTY: FileTally = {
  counts: { total: 0, waiting: 0, running: 0, done: 0, failed: 0, cancelled: 0 },
  through: 0,
};
