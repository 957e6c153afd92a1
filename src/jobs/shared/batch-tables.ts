/** The batches of all gateways, as their clients use them. All methods reject with DatabaseAway while it is away. */
import { sql, type Transaction } from 'kysely';
import { POSTGRES_NOW_MS } from '../../foundation/database/postgres-time.ts';
import type { RecordingTranscript } from '../../recordings/transcribe.ts';
import type { Batch, BatchView, FileTally, FileView, ResultsFrom } from '../batch.ts';
import { type BatchCount, requireRoom } from '../batch-index.ts';
import type { RunningBatch } from '../batch-waits.ts';
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
} from './batch-rows.ts';

/** A file's row has seven values, and a query at most 65,535. */
const FILES_AT_ONCE = 5000;

/** A file with its transcript. */
interface StoredResult extends StoredFile {
  readonly transcript: RecordingTranscript | null;
}

/** How many files of one tenant are in the queue at once. */
export interface BatchShares {
  /** Those that any gateway can do. */
  readonly anywhere: number;
  /** Those that only the gateway at an address can do. */
  readonly at: ReadonlyMap<string, number>;
}

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
   * Stores a new batch, unless the tenant has one of the same idempotency key (`repeated`).
   * @throws TrunklineError `too_many_batches`
   */
  add(batch: Batch, home: string, batchesMax: number): Promise<'added' | 'repeated'> {
    return this.#ofTenant(batch.tenant, async (db) => {
      const key = batch.idempotency?.key ?? null;
      const ofTenant = db.selectFrom('batches').where('tenant', '=', batch.tenant);
      if (key !== null && (await ofTenant.select('id').where('idempotency_key', '=', key).executeTakeFirst()))
        return 'repeated';
      requireRoom(await countIn(db, batch.tenant), batchesMax);
      await db.insertInto('batches').values(batchRowOf(batch, home)).execute();
      for (let at = 0; at < batch.files.length; at += FILES_AT_ONCE) {
        const files = batch.files.slice(at, at + FILES_AT_ONCE).map((file) => fileRowOf(batch.id, file));
        await db.insertInto('batch_files').values(files).execute();
      }
      return 'added';
    });
  }

  /** How many batches a tenant has. */
  count(tenant: string): Promise<BatchCount> {
    return countIn(this.#db, tenant);
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

  /** The batches that run. */
  async running(): Promise<RunningBatch[]> {
    return this.#db
      .selectFrom('batches')
      .select(({ selectFrom, fn }) => [
        'id',
        'created_ms as createdMs',
        selectFrom('batch_files')
          .select(fn.countAll<number>().as('waiting'))
          .whereRef('batch_id', '=', 'batches.id')
          .where('batch_files.state', '=', 'waiting')
          .$asScalar()
          .$notNull()
          .as('waiting'),
      ])
      .where('state', '=', 'running')
      .execute();
  }

  /**
   * Marks files of the tenant as queued, the oldest first, until as many are as its shares say. Returns those that were
   * marked.
   */
  queueNext(tenant: string, shares: BatchShares): Promise<FileToQueue[]> {
    return this.#ofTenant(tenant, async (db) => {
      const batches = await db
        .selectFrom('batches')
        .select(['id', 'home'])
        .where('tenant', '=', tenant)
        .where('state', '=', 'running')
        .orderBy('created_ms')
        .orderBy('id')
        .execute();
      const room = await roomOf(db, batches, shares);
      const queued: FileToQueue[] = [];
      for (const batch of batches)
        for (const isAnywhere of [true, false]) {
          const place = isAnywhere ? ANYWHERE : batch.home;
          const files = await markQueued(db, batch, isAnywhere, room.get(place) ?? 0);
          room.set(place, (room.get(place) ?? 0) - files.length);
          queued.push(...files);
        }
      return queued;
    });
  }

  /** The files of a batch from number `from` on, with their transcripts, at most `limit`. */
  async results(id: string, { from, asSpoken }: ResultsFrom, limit: number): Promise<StoredResult[]> {
    const rows = await this.#db
      .selectFrom('batch_files')
      .select([...FILE_COLUMNS, 'transcript', 'spoken'])
      .where('batch_id', '=', id)
      .where('number', '>=', from)
      .orderBy('number')
      .limit(limit)
      .execute();
    return rows.map((row) => {
      const json = asSpoken ? (row.spoken ?? row.transcript) : row.transcript;
      return { ...fileOf(row), transcript: json === null ? null : (JSON.parse(json) as RecordingTranscript) };
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

/** Any gateway can do a recording by URL; others only the one that took them. Not as JSON: see work-tables.ts. */
const IS_ANYWHERE = sql<boolean>`source LIKE '%"kind":"url"%'`;
const ANYWHERE = '';

async function countIn(db: BatchDatabase, tenant: string): Promise<BatchCount> {
  return db
    .selectFrom('batches')
    .where('tenant', '=', tenant)
    .select([
      sql<number>`count(*) FILTER (WHERE state = 'running')`.as('open'),
      sql<number>`count(*) FILTER (WHERE state <> 'running')`.as('ended'),
    ])
    .executeTakeFirstOrThrow();
}

type HomeBatch = { readonly id: string; readonly home: string };

/** How many files of these batches may be queued more, by the address of the gateway; '' = for any of them. */
async function roomOf(
  db: BatchDatabase,
  batches: readonly HomeBatch[],
  shares: BatchShares,
): Promise<Map<string, number>> {
  const room = new Map([[ANYWHERE, shares.anywhere]]);
  for (const { home } of batches) room.set(home, shares.at.get(home) ?? 1);
  if (batches.length === 0) return room;
  const rows = await db
    .selectFrom('batch_files')
    .innerJoin('batches', 'batches.id', 'batch_files.batch_id')
    .select(({ fn }) => ['batches.home', IS_ANYWHERE.as('is_anywhere'), fn.countAll<number>().as('queued')])
    .where(
      'batch_files.batch_id',
      'in',
      batches.map(({ id }) => id),
    )
    .where('batch_files.state', '=', 'waiting')
    .where('batch_files.is_queued', '=', 1)
    .groupBy(['batches.home', 'is_anywhere'])
    .execute();
  for (const { home, is_anywhere: isAnywhere, queued } of rows) {
    const place = isAnywhere ? ANYWHERE : home;
    room.set(place, (room.get(place) ?? 0) - queued);
  }
  return room;
}

/** Marks at most `filesMax` waiting files of a batch, in their order. */
async function markQueued(
  db: BatchDatabase,
  { id, home }: HomeBatch,
  isAnywhere: boolean,
  filesMax: number,
): Promise<FileToQueue[]> {
  if (filesMax <= 0) return [];
  const next = db
    .selectFrom('batch_files')
    .select('number')
    .where('batch_id', '=', id)
    .where('state', '=', 'waiting')
    .where('is_queued', '=', 0)
    .where(isAnywhere ? IS_ANYWHERE : sql<boolean>`NOT ${IS_ANYWHERE}`)
    .orderBy('number')
    .limit(filesMax);
  const marked = await db
    .updateTable('batch_files')
    .set({ is_queued: 1 })
    .where('batch_id', '=', id)
    .where('number', 'in', next)
    .returning('number')
    .execute();
  const only = isAnywhere ? undefined : home;
  return marked.map(({ number }) => ({ batchId: id, number, only })).toSorted((a, b) => a.number - b.number);
}

const EMPTY: FileTally = {
  counts: { total: 0, waiting: 0, running: 0, done: 0, failed: 0, cancelled: 0 },
  through: 0,
};
