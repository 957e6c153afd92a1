/** What changes in a live call from moment to moment, for the lists of other gateways: told about each second. */
import { type Kysely, sql } from 'kysely';
import type { CallView } from '../calls/call-view.ts';
import type { Clock, Timer } from '../foundation/clock.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { Tables } from './tables.ts';

const PERIOD_MS = 1000;
/** Rows of gateways that died, of which nobody asks any more. */
const STALE_MS = 60_000;

/** Of a {@link CallView}, what no event tells, or not in time. */
export type LiveFields = Pick<CallView, 'phase' | 'lagMs' | 'durationMs' | 'appMuted' | 'appLost'>;

interface LiveCallsOptions {
  readonly database: Pick<RecordsDatabase, 'db' | 'reader'>;
  /** The feed epoch of this gateway. */
  readonly gateway: string;
  /** The calls in memory. */
  readonly calls: () => readonly CallView[];
  readonly clock: Clock;
}

/** The live calls of this gateway, told to the others, and theirs. PostgreSQL only. */
export class LiveCalls {
  readonly #options: LiveCallsOptions;
  readonly #timer: Timer;
  #isTelling = false;
  /** There are rows of this gateway. */
  #hasTold = false;

  constructor(options: LiveCallsOptions) {
    this.#options = options;
    this.#timer = options.clock.every(PERIOD_MS, () => void this.#tell(), true);
  }

  /** Of the calls with these ids, by their ids. @throws the error of the database */
  async fieldsOf(ids: readonly string[]): Promise<ReadonlyMap<string, LiveFields>> {
    if (ids.length === 0) return new Map();
    const query = this.#options.database.reader.selectFrom('live_calls').select(['call_id', 'content']);
    const rows = await query.where('call_id', 'in', [...ids]).execute();
    return new Map(rows.map(({ call_id, content }) => [call_id, JSON.parse(content) as LiveFields]));
  }

  /** Tells nothing any more. */
  close(): void {
    this.#timer.cancel();
  }

  /** What cannot be told now is told, newer, a second later. */
  async #tell(): Promise<void> {
    const { database, gateway, calls, clock } = this.#options;
    const live = calls().filter(({ state }) => state !== 'ended');
    if (this.#isTelling || (live.length === 0 && !this.#hasTold)) return;
    this.#isTelling = true;
    try {
      await store(database.db, { gateway, live, atMs: clock.wall().getTime() });
      this.#hasTold = live.length > 0;
    } catch {
      // The recorder tells of a database that is away.
    } finally {
      this.#isTelling = false;
    }
  }
}

async function store(
  db: Kysely<Tables>,
  { gateway, live, atMs }: { readonly gateway: string; readonly live: readonly CallView[]; readonly atMs: number },
): Promise<void> {
  const ids = live.map(({ id }) => id);
  const gone = sql<boolean>`(gateway = ${gateway} AND call_id <> ALL(${ids}::text[])) OR at_ms < ${atMs - STALE_MS}`;
  await db.deleteFrom('live_calls').where(gone).execute();
  if (live.length === 0) return;
  const rows = live.map(({ id, phase, lagMs, durationMs, appMuted, appLost }) => {
    const fields: LiveFields = { phase, lagMs, durationMs, appMuted, appLost };
    return { call_id: id, gateway, content: JSON.stringify(fields), at_ms: atMs };
  });
  await db
    .insertInto('live_calls')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('call_id').doUpdateSet(({ ref }) => ({
        gateway: ref('excluded.gateway'),
        content: ref('excluded.content'),
        at_ms: ref('excluded.at_ms'),
      })),
    )
    .execute();
}
