/** What operators see of the database of the records. */
import type { Clock } from '../foundation/clock.ts';
import type { DatabaseKind } from './database-kind.ts';
import { readSchemaState } from './migrations/migrations.ts';
import type { RecordsDatabase } from './records-database.ts';

/** One database, and how far its schema is. */
export interface DatabaseReport {
  readonly kind: DatabaseKind;
  readonly place: string;
  readonly sizeBytes: number;
  /** Migrations that were applied, and those that this program would apply. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Null = it has no tables yet. */
  readonly calls: number | null;
  /** When the oldest call began, ISO 8601; null = there is none. */
  readonly oldestCallAt: string | null;
}

type Reported = Pick<RecordsDatabase, 'kind' | 'place' | 'db' | 'reader' | 'sizeBytes'>;

/** @throws ConfigError when a newer program has changed the schema; the error of the database */
export async function reportOf(database: Reported): Promise<DatabaseReport> {
  const { kind, place } = database;
  const { applied, pending } = await readSchemaState(database.db);
  const sizeBytes = await database.sizeBytes();
  const counts = applied.length === 0 ? { calls: null, oldestCallAt: null } : await countCalls(database);
  return { kind, place, sizeBytes, applied, pending, calls: counts.calls, oldestCallAt: counts.oldestCallAt };
}

/** How many calls are stored, and since when. */
export interface CallCount {
  readonly calls: number;
  /** ISO 8601; null = there is none. */
  readonly oldestCallAt: string | null;
}

/** Counts all calls, which takes longer the more there are. @throws the error of the database */
export async function countCalls({ reader }: Pick<RecordsDatabase, 'reader'>): Promise<CallCount> {
  const found = await reader
    .selectFrom('calls')
    .select(({ fn }) => [fn.countAll<number>().as('calls'), fn.min('started_ms').as('oldest_ms')])
    .executeTakeFirst();
  const oldestMs = found?.oldest_ms ?? null;
  return { calls: found?.calls ?? 0, oldestCallAt: oldestMs === null ? null : new Date(oldestMs).toISOString() };
}

/** How many stored calls began at `sinceMs` (since 1970) or later. @throws the error of the database */
export async function countCallsSince({ reader }: Pick<RecordsDatabase, 'reader'>, sinceMs: number): Promise<number> {
  const calls = reader.selectFrom('calls').where('started_ms', '>=', sinceMs);
  const found = await calls.select(({ fn }) => fn.countAll<number>().as('calls')).executeTakeFirst();
  return Number(found?.calls ?? 0);
}

/** A page that shows the count asks for it every few seconds: it is counted anew after a minute at the earliest. */
const COUNTED_FOR_MS = 60_000;

/** The number of calls as it was a short time ago. */
export class RecentCount {
  readonly #database: Pick<RecordsDatabase, 'reader'>;
  readonly #clock: Clock;
  #counted: { readonly atMs: number; readonly count: Promise<CallCount> } | null = null;

  constructor(database: Pick<RecordsDatabase, 'reader'>, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** @throws the error of the database, which is tried again at the next request */
  async read(): Promise<CallCount> {
    const nowMs = this.#clock.nowMs();
    if (this.#counted === null || nowMs - this.#counted.atMs >= COUNTED_FOR_MS)
      this.#counted = { atMs: nowMs, count: countCalls(this.#database) };
    try {
      return await this.#counted.count;
    } catch (error) {
      this.#counted = null;
      throw error;
    }
  }
}
