/**
 * The time by which records are deleted: the database's where it has a clock, else this machine's. It is believed only
 * as far as it fits what is stored.
 */
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../foundation/clock.ts';
import { POSTGRES_NOW_MS } from '../../foundation/database/postgres-time.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { Tables } from '../tables.ts';

/** Names in the table `meta`; the values are ms since 1970. */
const SEEN = 'retention:seen';
const AHEAD = 'retention:ahead';
const GO_ON = 'retention:go-on';
const COPIES_DUE = 'retention:copies-due';

/** What the database knows of time, in ms since 1970. */
export interface StoredTimes {
  /** The latest time that was believed; null = none yet. */
  readonly seenMs: number | null;
  /** Calls up to this time are known to lie in the future; null = none are. */
  readonly aheadMs: number | null;
  /** When somebody last said that deletion goes on; null = nobody did, or it has been heeded. */
  readonly goOnMs: number | null;
  /** When copies of the database were first found past their time; null = none are. */
  readonly copiesDueMs: number | null;
  /** When the latest call began, or ended; null = there is none. */
  readonly latestCallMs: number | null;
}

type ClockDatabase = Pick<RecordsDatabase, 'kind' | 'db' | 'reader'>;

/** The clock that deletion goes by, and what is stored of it. */
export class RetentionClock {
  readonly #database: ClockDatabase;
  readonly #clock: Clock;
  #offMs: number | null = null;

  constructor(database: ClockDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** How far this machine's clock is ahead of the database's, in ms, as last read; null = there is one clock only. */
  get offMs(): number | null {
    return this.#offMs;
  }

  /** Now, in ms since 1970. @throws the error of the database */
  async readNowMs(): Promise<number> {
    const beganMs = this.#clock.wall().getTime();
    if (this.#database.kind === 'sqlite') return beganMs;
    const nowMs = await readDatabaseNowMs(this.#database.reader);
    this.#offMs = Math.round((beganMs + this.#clock.wall().getTime()) / 2 - nowMs);
    return nowMs;
  }

  /**
   * Records from before this was watched: their last event is what is known of time. To be called before anything else
   * is stored. @throws the error of the database
   */
  async begin(): Promise<void> {
    const { db } = this.#database;
    const { seenMs } = await this.readStored();
    if (seenMs !== null) return;
    const event = await db.selectFrom('events').select('at_ms').orderBy('position', 'desc').limit(1).executeTakeFirst();
    const call = await db.selectFrom('calls').select('started_ms').orderBy('seq', 'desc').limit(1).executeTakeFirst();
    if (call === undefined) return;
    await put(db, SEEN, Math.max(event?.at_ms ?? 0, call.started_ms));
  }

  /** @throws the error of the database */
  async readStored(): Promise<StoredTimes> {
    const { reader } = this.#database;
    const rows = await reader.selectFrom('meta').selectAll().where('name', 'like', 'retention:%').execute();
    const timeOf = (wanted: string): number | null => {
      const row = rows.find(({ name }) => name === wanted);
      return row === undefined ? null : Number(row.value);
    };
    const begun = await latest(reader, 'started_ms');
    const ended = await latest(reader, 'ended_ms');
    return {
      seenMs: timeOf(SEEN),
      aheadMs: timeOf(AHEAD),
      goOnMs: timeOf(GO_ON),
      copiesDueMs: timeOf(COPIES_DUE),
      latestCallMs: begun === null ? null : Math.max(begun, ended ?? 0),
    };
  }

  /** Believes `nowMs`. @throws the error of the database */
  async believe(nowMs: number): Promise<void> {
    await put(this.#database.db, SEEN, nowMs);
  }

  /** Somebody says that deletion goes on whatever stopped it. @throws the error of the database */
  async goOn(): Promise<void> {
    await put(this.#database.db, GO_ON, await this.readNowMs());
  }

  /** That has been heeded: calls up to `latestCallMs` may lie in the future. @throws the error of the database */
  async wentOn(latestCallMs: number | null): Promise<void> {
    const { db } = this.#database;
    if (latestCallMs !== null) await put(db, AHEAD, latestCallMs);
    await db.deleteFrom('meta').where('name', '=', GO_ON).execute();
  }

  /** Copies are past their time since `nowMs`; null = none are. @throws the error of the database */
  async noteCopiesDue(nowMs: number | null): Promise<void> {
    const { db } = this.#database;
    if (nowMs === null) await db.deleteFrom('meta').where('name', '=', COPIES_DUE).execute();
    else await put(db, COPIES_DUE, nowMs);
  }
}

/** Now by a PostgreSQL server's clock, in ms since 1970. @throws the error of the database */
export async function readDatabaseNowMs(reader: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`SELECT ${sql.raw(POSTGRES_NOW_MS)} AS now_ms`.execute(reader);
  const [row] = rows;
  if (row === undefined) throw new Error('the database does not say what time it is');
  return row.now_ms;
}

async function latest(reader: Kysely<Tables>, column: 'started_ms' | 'ended_ms'): Promise<number | null> {
  let query = reader.selectFrom('calls').select(({ ref }) => ref(column).as('ms'));
  // As the index of this column has it.
  if (column === 'ended_ms') query = query.where('keep_until_ms', 'is', null).where('ended_ms', 'is not', null);
  const row = await query.orderBy(column, 'desc').limit(1).executeTakeFirst();
  return row?.ms ?? null;
}

async function put(db: Kysely<Tables>, name: string, ms: number): Promise<void> {
  const value = String(Math.round(ms));
  await db
    .insertInto('meta')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
