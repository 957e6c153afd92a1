/** The batches of all gateways, as those who work on them use them. All methods reject with DatabaseAway as well. */
import { sql } from 'kysely';
import { POSTGRES_NOW_MS } from '../../foundation/database/postgres-time.ts';
import type { RecordingTranscript } from '../../recordings/transcribe.ts';
import type { BatchFile, Webhook } from '../batch.ts';
import { type BatchDatabase, type FileToQueue, toQueue } from './batch-rows.ts';
import type { BatchShares } from './batch-tables.ts';

/** How a file ended. `spoken`: its transcript as it was spoken, where `transcript` is not, or is missing. */
export type FileEnd = { readonly spoken: RecordingTranscript | null } & (
  | { readonly state: 'done'; readonly transcript: RecordingTranscript }
  | { readonly state: 'failed'; readonly error: NonNullable<BatchFile['error']> }
);

/** A gateway of which nothing was seen for longer has no places. */
const SEEN_MS = 15_000;

/** What workers ask of the tables. */
export class WorkTables {
  readonly #db: BatchDatabase;

  constructor(db: BatchDatabase) {
    this.#db = db;
  }

  /** A gateway begins with a file. Returns how often one has; null = it is not wanted any more. */
  async begin(id: string, number: number): Promise<number | null> {
    const row = await this.#waitingFile(id, number)
      .set(({ eb }) => ({ tries: eb('tries', '+', 1), share: 0, error: null }))
      .returning('tries')
      .executeTakeFirst();
    return row?.tries ?? null;
  }

  /** Returns whether the file is still wanted. */
  async progress(id: string, number: number, share: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#waitingFile(id, number).set({ share }).executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** A gateway that lives gives a file back, which then counts as not begun; `error` = what it waits for. */
  async giveBack(id: string, number: number, error: BatchFile['error']): Promise<void> {
    await this.#waitingFile(id, number)
      .set(({ eb }) => ({ tries: eb('tries', '-', 1), share: null, error: error && JSON.stringify(error) }))
      .execute();
  }

  /** Returns false when the file had ended before, or its batch was cancelled or removed. */
  async settle(id: string, number: number, end: FileEnd): Promise<boolean> {
    const { numUpdatedRows } = await this.#waitingFile(id, number)
      .set({
        state: end.state,
        share: null,
        spoken: end.spoken && JSON.stringify(end.spoken),
        ...(end.state === 'failed'
          ? { error: JSON.stringify(end.error) }
          : { error: null, transcript: JSON.stringify(end.transcript), duration_ms: end.transcript.durationMs }),
      })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Ends batch `id`, or every batch, whose files have all ended. Returns the ids of those that this ended. */
  async finish(id?: string): Promise<string[]> {
    const rows = await this.#db
      .updateTable('batches')
      .set({ state: 'done', ended_ms: sql<number>`${sql.raw(POSTGRES_NOW_MS)}` })
      .where('state', '=', 'running')
      .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('batch_files')
              .select('number')
              .whereRef('batch_files.batch_id', '=', 'batches.id')
              .where('batch_files.state', '=', 'waiting'),
          ),
        ),
      )
      .returning('id')
      .execute();
    return rows.map((row) => row.id);
  }

  /** The files that the queue should have, of all tenants. */
  async queued(): Promise<FileToQueue[]> {
    const rows = await this.#db
      .selectFrom('batch_files as file')
      .innerJoin('batches as batch', 'batch.id', 'file.batch_id')
      .where('batch.state', '=', 'running')
      .where('file.state', '=', 'waiting')
      .where('file.is_queued', '=', 1)
      .select(['file.batch_id', 'file.number', 'file.source', 'batch.home'])
      .execute();
    return rows.map(toQueue);
  }

  /** Tenants with files that wait and are not queued. */
  async waitingTenants(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('batches')
      .select('tenant')
      .distinct()
      .where('state', '=', 'running')
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('batch_files')
            .select('number')
            .whereRef('batch_files.batch_id', '=', 'batches.id')
            .where('batch_files.state', '=', 'waiting')
            .where('batch_files.is_queued', '=', 0),
        ),
      )
      .execute();
    return rows.map(({ tenant }) => tenant);
  }

  /**
   * An equal part for each tenant whose batches run, where a gateway has `placesOfGateway` for files that any gateway
   * can do, and as many for those that only it can do. Who is alone has all.
   */
  async shares(placesOfGateway: number): Promise<BatchShares> {
    const seenMs = sql`${sql.raw(POSTGRES_NOW_MS)} - ${SEEN_MS}::bigint`;
    const [{ rows: all }, { rows: homes }] = await Promise.all([
      sql<{ gateways: number; tenants: number }>`SELECT
        (SELECT count(*) FROM gateways WHERE state = 'serving' AND seen_ms > ${seenMs}) AS gateways,
        (SELECT count(DISTINCT tenant) FROM batches WHERE state = 'running') AS tenants`.execute(this.#db),
      sql<{ home: string; tenants: number }>`SELECT home, count(DISTINCT tenant) AS tenants FROM batches
        WHERE state = 'running' GROUP BY home`.execute(this.#db),
    ]);
    const part = (places: number, tenants: number): number => Math.max(1, Math.ceil(places / Math.max(1, tenants)));
    const { gateways = 1, tenants = 1 } = all[0] ?? {};
    return {
      anywhere: part(Math.max(1, gateways) * placesOfGateway, tenants),
      at: new Map(homes.map((home) => [home.home, part(placesOfGateway, home.tenants)])),
    };
  }

  /** Those of the batches `ids` that run. */
  async running(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await this.#db
      .selectFrom('batches')
      .select('id')
      .where('id', 'in', ids)
      .where('state', '=', 'running')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Fails the recordings on the disks of gateways that were not seen for `graceMs`. Returns how many. */
  async failLost(graceMs: number, error: NonNullable<BatchFile['error']>): Promise<number> {
    const oldestMs = sql<number>`${sql.raw(POSTGRES_NOW_MS)} - ${graceMs}::bigint`;
    const { numUpdatedRows } = await this.#db
      .updateTable('batch_files as file')
      .from('batches as batch')
      .set({ state: 'failed', share: null, error: JSON.stringify(error) })
      .whereRef('batch.id', '=', 'file.batch_id')
      .where('batch.state', '=', 'running')
      .where('file.state', '=', 'waiting')
      // Not as JSON: PostgreSQL reads none with half of a surrogate pair in it, which a path may have.
      .where('file.source', 'not like', '%"kind":"url"%')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('gateways')
              .select('address')
              .whereRef('gateways.address', '=', 'batch.home')
              .where('seen_ms', '>', oldestMs),
          ),
        ),
      )
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** The webhook of a batch after an attempt. */
  async noteWebhook(id: string, { state, attempts }: Omit<Webhook, 'url'>): Promise<void> {
    await this.#db
      .updateTable('batches')
      .set({ webhook_state: state, webhook_attempts: attempts })
      .where('id', '=', id)
      .execute();
  }

  /** Batches that have ended and whose webhook is still to be delivered. */
  async waitingWebhooks(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('batches')
      .select('id')
      .where('webhook_state', '=', 'waiting')
      .where('state', '<>', 'running')
      .execute();
    return rows.map(({ id }) => id);
  }

  #waitingFile(id: string, number: number) {
    return this.#db
      .updateTable('batch_files')
      .where('batch_id', '=', id)
      .where('number', '=', number)
      .where('state', '=', 'waiting');
  }
}
