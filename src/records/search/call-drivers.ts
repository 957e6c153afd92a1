/**
 * Which indexes lead to the calls of a filter. A driver is one condition of the filter that an index answers; the one
 * with the fewest calls drives, and the rest of the filter is asked of the calls that it gives.
 */
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';
import type { CallFilter, PartyPattern } from './call-filter.ts';

/** Calls of a driver that are counted: more count as many. */
export const COUNTED_MAX = 20_000;
/** The row of each call whose name was found is read. */
const COUNTED_NAMES_MAX = 4000;
/** As the indexes of src/records/migrations/0009-whole-numbers.ts have them. */
const REVERSED_CHARS = 16;
/** The index of names has each three characters in a row. */
const GRAM_CHARS = 3;

/** Follows every character of a number or address. */
const LAST_CHARACTER = '\u{10FFFF}';

/** One index: what is selected from, and by which condition. It has `seq` and `started_ms`. */
interface Arm {
  readonly from: RawBuilder<unknown>;
  readonly seq: RawBuilder<unknown>;
  readonly where: RawBuilder<boolean>;
}

/** A condition that an index answers. */
export interface CallDriver {
  readonly name: string;
  /** Its indexes have the calls by the time of their beginning; else all have to be gathered and sorted. */
  readonly isOrdered: boolean;
  /** One index each; a call may be in both. */
  readonly arms: readonly Arm[];
  readonly countedMax: number;
}

/** Bounds of the time at which calls began, in ms since 1970: from, before, and at the latest. */
export interface StartBounds {
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly topMs?: number | undefined;
}

/** All calls, by the time of their beginning. */
export function timeDriver(kind: DatabaseKind): CallDriver {
  return ordered('time', arm(kind, 'calls_started', sql<boolean>`1 = 1`));
}

/** The drivers that `filter` has, but for the time. */
export function driversOf(filter: CallFilter, kind: DatabaseKind): CallDriver[] {
  const { party, name, tag, hasGap, minDurationMs, maxDurationMs } = filter;
  const equal = [
    ['agent', filter.agent ?? filter.onlyAgent],
    ['queue', filter.queue],
    ['app', filter.app],
    ['flow', filter.flow],
    ['outcome', filter.outcome],
    ['end_reason', filter.endReason],
    ['carrier', filter.carrier],
  ] as const;
  const drivers = equal.flatMap(([column, value]) =>
    value === undefined
      ? []
      : [ordered(column, arm(kind, `calls_${column}`, sql<boolean>`${sql.ref(column)} = ${value}`))],
  );
  if (tag !== undefined) drivers.push(ordered('tag', tagArm(kind, tag)));
  if (hasGap === true) drivers.push(ordered('gaps', arm(kind, 'calls_with_gaps', sql<boolean>`gaps > 0`)));
  if (party !== undefined && party.text !== '') drivers.push(partyDriver(party, kind));
  if (minDurationMs !== undefined || maxDurationMs !== undefined)
    drivers.push(gathered('length', [lengthArm(kind, filter)]));
  if (name !== undefined && [...name].length >= GRAM_CHARS) drivers.push(nameDriver(name, kind));
  return drivers;
}

/** Selects `seq` and `started_ms` of the calls of one index within `bounds`, unordered. */
export function selectArm({ from, seq, where }: Arm, { sinceMs, untilMs, topMs }: StartBounds): RawBuilder<unknown> {
  const bounds = [
    ...(sinceMs === undefined ? [] : [sql`started_ms >= ${sinceMs}`]),
    ...(untilMs === undefined ? [] : [sql`started_ms < ${untilMs}`]),
    ...(topMs === undefined ? [] : [sql`started_ms <= ${topMs}`]),
  ];
  const wanted = sql.join([where, ...bounds], sql` AND `);
  return sql`SELECT ${seq} AS part_seq, started_ms AS part_ms FROM ${from} WHERE ${wanted}`;
}

function ordered(name: string, ...arms: Arm[]): CallDriver {
  return { name, isOrdered: true, arms, countedMax: COUNTED_MAX };
}

function gathered(name: string, arms: readonly Arm[], countedMax = COUNTED_MAX): CallDriver {
  return { name, isOrdered: false, arms, countedMax };
}

/** SQLite keeps no statistics, so that it would take any index: it is told. PostgreSQL has them. */
function arm(kind: DatabaseKind, index: string, where: RawBuilder<boolean>, table = 'calls', seq = 'seq'): Arm {
  const from = kind === 'sqlite' ? sql.raw(`${table} INDEXED BY ${index}`) : sql.table(table);
  return { from, seq: sql.ref(seq), where };
}

function tagArm(kind: DatabaseKind, tag: string): Arm {
  return arm(kind, 'call_tags_of_tag', sql<boolean>`tag = ${tag}`, 'call_tags', 'call_seq');
}

function lengthArm(kind: DatabaseKind, { minDurationMs = 0, maxDurationMs }: CallFilter): Arm {
  const upTo = maxDurationMs === undefined ? sql`` : sql` AND length_ms <= ${maxDurationMs}`;
  return arm(kind, 'calls_length', sql<boolean>`length_ms >= ${minDurationMs}${upTo}`);
}

const PARTIES = ['from_party', 'to_party'] as const;

function partyDriver({ where, text }: PartyPattern, kind: DatabaseKind): CallDriver {
  if (where === 'whole')
    return ordered(
      'party',
      ...PARTIES.map((column) => arm(kind, `calls_${column}`, sql`${sql.ref(column)} = ${text}`)),
    );
  if (where === 'beginning')
    return gathered(
      'party',
      PARTIES.map((column) => arm(kind, `calls_${column}`, beginsWith(sql.ref(column), column, text, kind))),
    );
  const end = [...text].slice(-REVERSED_CHARS).toReversed().join('');
  return gathered(
    'party',
    PARTIES.map((column) =>
      arm(kind, `calls_${column}_reversed`, beginsWith(reversed(column, kind), column, end, kind)),
    ),
  );
}

/** Byte by byte, as the indexes have them. */
function beginsWith(value: RawBuilder<unknown>, column: string, text: string, kind: DatabaseKind): RawBuilder<boolean> {
  const last = `${text}${LAST_CHARACTER}`;
  const isThere = sql`${sql.ref(column)} IS NOT NULL`;
  if (kind === 'sqlite') return sql`${isThere} AND (${value}) >= ${text} AND (${value}) < ${last}`;
  return sql`${isThere} AND ${value} ~>=~ ${text} AND ${value} ~<~ ${last}`;
}

/** In the words of the indexes. */
function reversed(column: string, kind: DatabaseKind): RawBuilder<unknown> {
  if (kind === 'postgres') return sql`reverse(${sql.ref(column)})`;
  const characters = Array.from({ length: REVERSED_CHARS }, (_, at) => `substr(${column}, -${at + 1}, 1)`);
  return sql.raw(characters.join(' || '));
}

function nameDriver(part: string, kind: DatabaseKind): CallDriver {
  if (kind === 'sqlite') {
    const phrase = `"${part.replaceAll('"', '""')}"`;
    const where = sql<boolean>`seq IN (SELECT rowid FROM names_index WHERE names_index MATCH ${phrase})`;
    return gathered('name', [{ from: sql.table('calls'), seq: sql.ref('seq'), where }], COUNTED_NAMES_MAX);
  }
  const names = sql`name_grams(coalesce(inbound_name, '') || chr(10) || coalesce(outbound_name, ''))`;
  const where = sql<boolean>`(inbound_name IS NOT NULL OR outbound_name IS NOT NULL)
    AND ${names} @> name_grams(${part})`;
  return gathered('name', [{ from: sql.table('calls'), seq: sql.ref('seq'), where }], COUNTED_NAMES_MAX);
}
