/**
 * What was counted of flows, kept day by day, so that each call is counted once. Triggers of the database take a day
 * back when one of its calls changes or is deleted (src/records/migrations/0006-planned-search.ts).
 */
import { type Kysely, sql } from 'kysely';
import { isDatabaseTrouble } from '../../foundation/database/trouble.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { Tables } from '../tables.ts';
import type { CountState } from './flow-count.ts';

/** A day in UTC. */
export const DAY_MS = 86_400_000;
/** The scope of the row that tells of changes. */
const CHANGES = '';

/** The counted days of one database. */
export class FlowDays {
  readonly #database: Pick<RecordsDatabase, 'db' | 'reader' | 'kind'>;

  constructor(database: Pick<RecordsDatabase, 'db' | 'reader' | 'kind'>) {
    this.#database = database;
  }

  /** What was counted in `scope` of the day that begins at `dayMs`; null = it has to be counted. */
  async find(dayMs: number, scope: string): Promise<CountState | null> {
    const row = await this.#database.reader
      .selectFrom('flow_days')
      .select('content')
      .where('day_ms', '=', dayMs)
      .where('scope', '=', scope)
      .executeTakeFirst();
    return row === undefined ? null : (JSON.parse(row.content) as CountState);
  }

  /** To be called before a day is counted: what changes it from now on is noticed by {@link store}. */
  begin(dayMs: number): Promise<number> {
    return this.#database.db.transaction().execute(async (db) => {
      // Transactions that have changed a call of the day, and are not seen yet, come to their end first.
      if (this.#database.kind === 'postgres') await sql`LOCK TABLE flow_days IN SHARE ROW EXCLUSIVE MODE`.execute(db);
      await db
        .insertInto('flow_days')
        .values({ day_ms: dayMs, scope: CHANGES, changes: 0, content: '' })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return this.#changes(db, dayMs);
    });
  }

  /** Keeps what was counted, unless the day has changed since {@link begin}. What cannot be kept is counted again. */
  async store(dayMs: number, scope: string, counted: CountState, begunAt: number): Promise<void> {
    const content = JSON.stringify(counted);
    const storing = this.#database.db.transaction().execute(async (db) => {
      if ((await this.#changes(db, dayMs)) !== begunAt) return;
      await db
        .insertInto('flow_days')
        .values({ day_ms: dayMs, scope, changes: 0, content })
        .onConflict((conflict) => conflict.columns(['day_ms', 'scope']).doUpdateSet({ content }))
        .execute();
    });
    await storing.catch((error: unknown) => {
      if (!isDatabaseTrouble(error)) throw error;
    });
  }

  async #changes(db: Kysely<Tables>, dayMs: number): Promise<number> {
    const query = db.selectFrom('flow_days').select('changes').where('day_ms', '=', dayMs).where('scope', '=', CHANGES);
    const locked = this.#database.kind === 'postgres' ? query.forUpdate() : query;
    return (await locked.executeTakeFirst())?.changes ?? 0;
  }
}
