/**
 * Reads the ended calls of a filter, the latest first. The driver with the fewest calls gives them in parts, and each
 * part is one statement: in SQLite a short one, for writes wait for it; in PostgreSQL larger and larger ones, so that
 * there are few even where the way to the server is long (decision 74).
 */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { CallsTable } from '../tables.ts';
import { type CallDriver, driversOf, selectArm, timeDriver } from './call-drivers.ts';
import { type CallFilter, conditionsOf } from './call-filter.ts';

/** A call and its tags, as JSON; null = it has none. They come with it: where the way is long, each statement costs. */
export type TaggedCall = Selectable<CallsTable> & { readonly tags: string | null };

/** Selects `tags` of {@link TaggedCall}; `seq` = the column that has the number of the call. */
export function tagsOf(seq: string, kind: DatabaseKind): RawBuilder<string | null> {
  const tags = sql`(SELECT tag FROM call_tags WHERE call_seq = ${sql.ref(seq)} ORDER BY tag) AS of_call`;
  return kind === 'sqlite'
    ? sql`(SELECT json_group_array(tag) FROM ${tags})`
    : sql`(SELECT json_agg(tag)::text FROM ${tags})`;
}

/** Calls of a driver that one statement looks at: the first one, how much more each next one, and at most. */
export interface PartSizes {
  readonly first: number;
  readonly factor: number;
  readonly largest: number;
}

const PARTS: Readonly<Record<DatabaseKind, PartSizes>> = {
  sqlite: { first: 500, factor: 2, largest: 2000 },
  postgres: { first: 500, factor: 8, largest: 65_536 },
};

/** Behind which call a page begins. Those that began at the same time are in the order of their ids. */
export interface PageStart {
  readonly startedMs: number;
  readonly id: string;
}

/** The driver that was chosen. `calls`: how many it has; null = it was not counted, or they are many. */
interface Plan {
  readonly driver: CallDriver;
  readonly calls: number | null;
}

/** A call row beside the bounds of the part that it was found in; without a call, only these. */
type PartRow = { readonly [column in keyof TaggedCall]: TaggedCall[column] | null } & {
  readonly bottom_ms: number | null;
  readonly part_calls: number;
};

/** Reads calls by filters. */
export class PlannedCalls {
  readonly #database: Pick<RecordsDatabase, 'reader' | 'kind'>;
  readonly #parts: PartSizes;
  readonly #countedMax: number;

  /** `parts` and `countedMax` are smaller in tests, where there are few calls. */
  constructor(
    database: Pick<RecordsDatabase, 'reader' | 'kind'>,
    parts = PARTS[database.kind],
    countedMax = Number.POSITIVE_INFINITY,
  ) {
    this.#database = database;
    this.#parts = parts;
    this.#countedMax = countedMax;
  }

  /** At least `limit` ended calls behind `from` (null = from the latest on), or all that there are. */
  async ended(filter: CallFilter, from: PageStart | null, limit: number): Promise<TaggedCall[]> {
    const { driver } = await this.#choose(filter);
    const rows: TaggedCall[] = [];
    const { first: firstSize, factor, largest } = this.#parts;
    let size = firstSize;
    let topMs = from?.startedMs;
    for (;;) {
      const part = { driver, topMs, size, from: topMs === from?.startedMs ? from : null };
      const found = await this.#part(filter, part, limit);
      const [first] = found;
      const isLast = first === undefined || first.part_calls < size || first.bottom_ms === null;
      const calls = found.filter((row): row is PartRow & TaggedCall => row.id !== null);
      if (isLast) return [...rows, ...calls];
      const bottomMs = first.bottom_ms;
      // Others that began with the last one may be missing: the next part has them all.
      rows.push(...calls.filter(({ started_ms }) => started_ms > bottomMs));
      if (rows.length >= limit) return rows;
      const isStuck = bottomMs === topMs;
      size = isStuck ? size * 8 : Math.min(size * factor, Math.max(size, largest));
      topMs = bottomMs;
    }
  }

  /** The numbers of all calls of `filter`, the newest first; null = each driver has more than `callsMax`. */
  async few(filter: CallFilter, callsMax: number): Promise<number[] | null> {
    const drivers = driversOf(filter, this.#database.kind);
    if (drivers.length === 0) return null;
    const { driver, calls } = await this.#least(filter, drivers);
    if (calls === null || calls > callsMax) return null;
    const part = this.#select(driver, filter, undefined, callsMax + 1);
    const { rows } = await sql<{ seq: number }>`WITH part AS MATERIALIZED (${part})
      SELECT calls.seq AS seq FROM part CROSS JOIN calls
      WHERE calls.seq = part.part_seq AND ${sql.join(conditionsOf(filter), sql` AND `)}
      ORDER BY calls.seq DESC`.execute(this.#database.reader);
    return rows.map(({ seq }) => seq);
  }

  /** Only one driver whose calls are in order needs no counting: it is read as far as the page goes. */
  async #choose(filter: CallFilter): Promise<Plan> {
    const { kind } = this.#database;
    const drivers = driversOf(filter, kind);
    const [first] = drivers;
    if (first === undefined) return { driver: timeDriver(kind), calls: null };
    if (drivers.length === 1 && first.isOrdered) return { driver: first, calls: null };
    return this.#least(filter, drivers);
  }

  async #least(filter: CallFilter, drivers: readonly CallDriver[]): Promise<Plan> {
    const { reader, kind } = this.#database;
    const time = timeDriver(kind);
    const isTimed = filter.sinceMs !== undefined || filter.untilMs !== undefined;
    const candidates = (isTimed ? [...drivers, time] : drivers).map((driver) => ({
      ...driver,
      countedMax: Math.min(driver.countedMax, this.#countedMax),
    }));
    const counts = candidates.map((driver, at) => sql`${countOf(driver, filter)} AS ${sql.ref(`d${at}`)}`);
    const { rows } = await sql<Record<string, number>>`SELECT ${sql.join(counts)}`.execute(reader);
    const counted = candidates.map((driver, at) => ({ driver, calls: rows[0]?.[`d${at}`] ?? 0 }));
    const few = counted.filter(({ driver, calls }) => calls <= driver.countedMax);
    const [least] = few.toSorted((a, b) => a.calls - b.calls);
    if (least !== undefined) return least;
    // All have many: a page of one whose calls are in order is found soon; those of others would have to be sorted.
    return { driver: candidates.find(({ isOrdered }) => isOrdered) ?? time, calls: null };
  }

  async #part(
    filter: CallFilter,
    {
      driver,
      topMs,
      size,
      from,
    }: { driver: CallDriver; topMs: number | undefined; size: number; from: PageStart | null },
    limit: number,
  ): Promise<PartRow[]> {
    const { reader, kind } = this.#database;
    // Ids are compared by their characters, as they are here, and not as people of some country sort them.
    const id = kind === 'sqlite' ? sql`calls.id` : sql`calls.id COLLATE "C"`;
    const wanted = [sql`calls.seq = part.part_seq`, sql`state = 'ended'`, ...conditionsOf(filter)];
    if (from !== null) wanted.push(sql`(started_ms < ${from.startedMs} OR ${id} > ${from.id})`);
    const { rows } = await sql<PartRow>`WITH part AS MATERIALIZED (${this.#select(driver, filter, topMs, size)})
      SELECT ends.bottom_ms, ends.part_calls, found.*, ${tagsOf('found.seq', kind)} AS tags
      FROM (SELECT min(part_ms) AS bottom_ms, count(*) AS part_calls FROM part) AS ends
      LEFT JOIN (
        SELECT calls.* FROM part CROSS JOIN calls WHERE ${sql.join(wanted, sql` AND `)}
        ORDER BY calls.started_ms DESC, ${id} LIMIT ${limit}
      ) AS found ON TRUE`.execute(reader);
    return rows;
  }

  /** The latest `size` calls of a driver. */
  #select(driver: CallDriver, filter: CallFilter, topMs: number | undefined, size: number): RawBuilder<unknown> {
    const { sinceMs, untilMs } = filter;
    const latest = sql`ORDER BY part_ms DESC, part_seq DESC LIMIT ${size}`;
    const arms = driver.arms.map((arm) => {
      const all = selectArm(arm, { sinceMs, untilMs, topMs });
      return driver.isOrdered ? sql`SELECT * FROM (${all} ${latest}) AS latest` : all;
    });
    return sql`SELECT part_seq, part_ms FROM (${sql.join(arms, sql` UNION `)}) AS arms ${latest}`;
  }
}

/** How many calls a driver has, one more than `countedMax` at most for each of its indexes. */
function countOf({ arms, countedMax }: CallDriver, { sinceMs, untilMs }: CallFilter): RawBuilder<number> {
  const counts = arms.map(
    (arm) => sql`(SELECT count(*) FROM (${selectArm(arm, { sinceMs, untilMs })} LIMIT ${countedMax + 1}) AS counted)`,
  );
  return sql`(${sql.join(counts, sql` + `)})`;
}
