/**
 * Finds the calls in which something was said. Each statement is short: writes wait for at most one of them. Calls come
 * newest first, as they are found, so that a search with very many hits costs no more than one with few.
 */
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../foundation/clock.ts';
import type { DatabaseKind } from '../database-kind.ts';
import type { Tables } from '../tables.ts';
import { type CallFilter, filtersCalls, whereCall } from './call-filter.ts';
import { PlannedCalls } from './planned-calls.ts';
import { BlockWalk, blockAround, type SearchBlock, TEXTS_PER_CALL } from './search-blocks.ts';
import { toFts5, toTsquery } from './search-match.ts';
import type { SearchQuery } from './search-query.ts';

/** A call in which it was said. */
export interface FoundCall {
  readonly seq: number;
  /** The last texts in which it was said, at most {@link TEXTS_SHOWN}, the latest first. */
  readonly textIds: readonly number[];
}

/** Of each call. */
export const TEXTS_SHOWN = 3;
/** Most hits that one statement reads. */
const SLICE_HITS = 500;
/** Most calls that a slice reads where words are frequent and the filter is not: more than a page of 100. */
const SLICE_CALLS = 120;
/** Where a filter leaves at most so many calls, these are searched. */
const FEW_CALLS = { sqlite: 200, postgres: 2000 } as const;
/** Calls that are searched together: by a statement each in SQLite, by one in PostgreSQL. */
const CALLS_AT_ONCE = { sqlite: 20, postgres: 2000 } as const;
/** A call is numbered when it is first written, which may be this long after, or before, it began. */
const START_SLACK_MS = 3_600_000;

interface TextSearchOptions {
  readonly reader: Kysely<Tables>;
  readonly kind: DatabaseKind;
  readonly clock: Clock;
}

/** What is searched for; `belowSeq` = only calls that were numbered before that one. */
export interface TextSearchRequest {
  readonly query: SearchQuery;
  readonly filter: CallFilter;
  readonly belowSeq: number | null;
}

/**
 * How a slice reads its hits. FTS5 reads upwards, where there is no more than one statement may read, several times
 * faster than downwards; downwards where words are frequent; and call by call where besides the filter is selective.
 */
type Manner = 'upwards' | 'downwards' | 'callByCall';

interface Slice {
  readonly found: readonly FoundCall[];
  /** What is right for the slice that follows. */
  readonly manner: Manner;
  /** All calls with numbers from here on are done. */
  readonly doneFrom: number;
}

/** Full-text search over one database. */
export class TextSearch {
  readonly #options: TextSearchOptions;
  readonly #planned: PlannedCalls;

  constructor(options: TextSearchOptions) {
    this.#options = options;
    this.#planned = new PlannedCalls(options);
  }

  /** The calls of `request`, newest first, slice by slice; a slice may be empty. */
  async *find(request: TextSearchRequest): AsyncGenerator<readonly FoundCall[], void, undefined> {
    const { clock, kind } = this.#options;
    const few = await this.#planned.few(request.filter, FEW_CALLS[kind]);
    if (few !== null) {
      yield* this.#findIn(few, request);
      return;
    }
    const range = await this.#rangeOf(request);
    if (range === null) return;
    const walk = new BlockWalk(range.endSeq, kind);
    let manner: Manner = 'upwards';
    while (walk.endSeq > range.firstSeq) {
      const beganMs = clock.nowMs();
      const slice: Slice = await (manner === 'callByCall'
        ? this.#callByCall(request, walk)
        : this.#slice(request, walk, manner));
      manner = slice.manner;
      walk.advance(slice.doneFrom, clock.nowMs() - beganMs);
      yield slice.found.filter(({ seq }) => seq >= range.firstSeq);
    }
  }

  /** Looks through these calls alone; their numbers are in descending order. */
  async *#findIn(calls: readonly number[], { query, belowSeq }: TextSearchRequest) {
    const seqs = calls.filter((seq) => seq < (belowSeq ?? Infinity));
    const atOnce = CALLS_AT_ONCE[this.#options.kind];
    for (let from = 0; from < seqs.length; from += atOnce)
      yield await this.#matchInEach(query, seqs.slice(from, from + atOnce));
  }

  /** Those of `seqs` that match: by one statement, or by one each that do not wait for each other's way. */
  async #matchInEach(query: SearchQuery, seqs: readonly number[]): Promise<FoundCall[]> {
    if (this.#options.kind === 'postgres') return groupByCall(await this.#matchInCalls(query, seqs));
    const looked = seqs.map(async (seq) => ({ seq, textIds: await this.#matchInCall(query, seq) }));
    return (await Promise.all(looked)).filter(({ textIds }) => textIds.length > 0);
  }

  async #matchInCalls(query: SearchQuery, seqs: readonly number[]): Promise<number[]> {
    const { rows } = await sql<{ id: number }>`SELECT id FROM texts
      WHERE call_seq = ANY(${seqs}::bigint[]) AND words @@ ${toTsquery(query)}::tsquery
      ORDER BY id DESC`.execute(this.#options.reader);
    return rows.map(({ id }) => id);
  }

  /** The last texts of a call that match. */
  async #matchInCall(query: SearchQuery, seq: number): Promise<number[]> {
    const [from, end] = [seq * TEXTS_PER_CALL, (seq + 1) * TEXTS_PER_CALL];
    const textIds = await this.#match({ query, block: blockAround(seq), from, end }, 'upwards');
    return textIds.slice(0, TEXTS_SHOWN);
  }

  /** Between which numbers its calls are; null = there are none. */
  async #rangeOf({ filter, belowSeq }: TextSearchRequest): Promise<{ firstSeq: number; endSeq: number } | null> {
    const { sinceMs, untilMs } = filter;
    const calls = this.#options.reader.selectFrom('calls').select('seq').limit(1);
    const [first, last] = await Promise.all([
      sinceMs === undefined
        ? calls.orderBy('seq').executeTakeFirst()
        : calls
            .where('started_ms', '>=', sinceMs - START_SLACK_MS)
            .orderBy('started_ms')
            .orderBy('seq')
            .executeTakeFirst(),
      untilMs === undefined
        ? calls.orderBy('seq', 'desc').executeTakeFirst()
        : calls
            .where('started_ms', '<', untilMs + START_SLACK_MS)
            .orderBy('started_ms', 'desc')
            .orderBy('seq', 'desc')
            .executeTakeFirst(),
    ]);
    if (first === undefined || last === undefined) return null;
    return { firstSeq: first.seq, endSeq: Math.min(last.seq + 1, belowSeq ?? Infinity) };
  }

  async #slice(request: TextSearchRequest, walk: BlockWalk, manner: Exclude<Manner, 'callByCall'>): Promise<Slice> {
    const { block, endSeq } = walk;
    const { query, filter } = request;
    const ids = await this.#match({ query, block, end: endSeq * TEXTS_PER_CALL }, manner);
    const isDense = ids.length === SLICE_HITS;
    const restricts = filtersCalls(filter) || filter.sinceMs !== undefined || filter.untilMs !== undefined;
    if (isDense && restricts) return this.#callByCall(request, walk);
    const calls = groupByCall(ids);
    const last = calls.at(-1);
    const isCut = isDense && last !== undefined && last.textIds.length < TEXTS_SHOWN;
    const whole = isCut ? calls.slice(0, -1) : calls;
    const found = restricts ? await this.#passing(whole, filter) : whole;
    if (!isDense || last === undefined) return { found, doneFrom: block.firstSeq, manner: 'upwards' };
    return { found, doneFrom: isCut ? last.seq + 1 : last.seq, manner: 'downwards' };
  }

  /** Where most calls have the words, the calls that pass the filter are looked at one by one. */
  async #callByCall({ query, filter }: TextSearchRequest, { block, endSeq }: BlockWalk): Promise<Slice> {
    const { reader, kind } = this.#options;
    const candidates = await whereCall(reader.selectFrom('calls').select('seq'), filter)
      .where('seq', '>=', block.firstSeq)
      .where('seq', '<', endSeq)
      .orderBy('seq', 'desc')
      .limit(SLICE_CALLS)
      .execute();
    const found: FoundCall[] = [];
    for (let from = 0; from < candidates.length; from += CALLS_AT_ONCE[kind]) {
      const some = candidates.slice(from, from + CALLS_AT_ONCE[kind]).map(({ seq }) => seq);
      found.push(...(await this.#matchInEach(query, some)));
    }
    const last = candidates.at(-1);
    const doneFrom = candidates.length < SLICE_CALLS || last === undefined ? block.firstSeq : last.seq;
    return { found, doneFrom, manner: found.length * 2 >= candidates.length ? 'callByCall' : 'downwards' };
  }

  async #passing(calls: readonly FoundCall[], filter: CallFilter): Promise<FoundCall[]> {
    if (calls.length === 0) return [];
    const seqs = calls.map(({ seq }) => seq);
    const rows = await whereCall(this.#options.reader.selectFrom('calls').select('seq'), filter)
      .where('seq', 'in', seqs)
      .execute();
    const passing = new Set(rows.map(({ seq }) => seq));
    return calls.filter(({ seq }) => passing.has(seq));
  }

  /** The latest {@link SLICE_HITS} texts that match in `range`, the latest first. */
  async #match(range: TextRange, manner: Exclude<Manner, 'callByCall'>): Promise<number[]> {
    if (this.#options.kind === 'postgres') return this.#matchInPostgres(range);
    if (manner === 'downwards') return this.#matchInSqlite(range, 'DESC');
    const upwards = await this.#matchInSqlite(range, 'ASC');
    return upwards.length < SLICE_HITS ? upwards.toReversed() : this.#matchInSqlite(range, 'DESC');
  }

  async #matchInSqlite({ query, block, from = 0, end }: TextRange, order: 'ASC' | 'DESC'): Promise<number[]> {
    const first = Math.max(from, block.firstSeq * TEXTS_PER_CALL);
    const { rows } = await sql<{ id: number }>`SELECT rowid AS id FROM texts_index
      WHERE texts_index MATCH ${toFts5(query, block.name)} AND rowid >= ${first} AND rowid < ${end}
      ORDER BY rowid ${sql.raw(order)} LIMIT ${SLICE_HITS}`.execute(this.#options.reader);
    return rows.map(({ id }) => id);
  }

  async #matchInPostgres({ query, block, from = 0, end }: TextRange): Promise<number[]> {
    const first = Math.max(from, block.firstSeq * TEXTS_PER_CALL);
    const { rows } = await sql<{ id: number }>`SELECT id FROM texts WHERE words @@ ${toTsquery(query)}::tsquery
      AND id >= ${first} AND id < ${end} ORDER BY id DESC LIMIT ${SLICE_HITS}`.execute(this.#options.reader);
    return rows.map(({ id }) => id);
  }
}

/** Texts of a block with numbers from `from` (else its first) and below `end`. */
interface TextRange {
  readonly query: SearchQuery;
  readonly block: SearchBlock;
  readonly from?: number;
  readonly end: number;
}

/** Of each call the first texts of `ids`, which are in descending order. */
function groupByCall(ids: readonly number[]): FoundCall[] {
  const calls: { seq: number; textIds: number[] }[] = [];
  for (const id of ids) {
    const seq = Math.floor(id / TEXTS_PER_CALL);
    const last = calls.at(-1);
    if (last?.seq !== seq) calls.push({ seq, textIds: [id] });
    else if (last.textIds.length < TEXTS_SHOWN) last.textIds.push(id);
  }
  return calls;
}
