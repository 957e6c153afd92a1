/** Lists of calls, from memory and from the database, in one order and in pages. */
import { type Selectable, sql } from 'kysely';
import type { CallView } from '../../calls/call-view.ts';
import type { Clock } from '../../foundation/clock.ts';
import { isDatabaseTrouble } from '../../foundation/database/trouble.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import type { Track } from '../../protocols/dialect.ts';
import type { LiveCalls } from '../live-calls.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { CallsTable, TextsTable } from '../tables.ts';
import { type CallFilter, conditionsOf, passes } from './call-filter.ts';
import { PlannedCalls, type TaggedCall, tagsOf } from './planned-calls.ts';
import type { SearchQuery } from './search-query.ts';
import { type SnippetPart, snippetOf } from './snippets.ts';
import { type FoundCall, TextSearch } from './text-search.ts';

/** Where a call stands in a list: those being made, live ones, ended ones; of each the latest first. */
export interface CallPosition {
  readonly state: CallView['state'];
  /** Ms since 1970. */
  readonly startedMs: number;
  readonly id: string;
}

/** A stretch of what was said, as a search found it. */
export interface FoundText {
  readonly track: Track;
  readonly startMs: number;
  readonly parts: readonly SnippetPart[];
}

/** A call in which a search found something. */
export interface FoundCallView {
  readonly view: CallView;
  /** Its last texts with the words, in the order of their start. */
  readonly found: readonly FoundText[];
}

/** The calls of this gateway that are in memory. */
export interface CallMemory {
  list(): CallView[];
  get(id: string): CallView | undefined;
}

interface CallListsOptions {
  readonly database: Pick<RecordsDatabase, 'reader' | 'kind'>;
  readonly clock: Clock;
  /** How rows are shown. */
  readonly calls: { toView(row: Selectable<CallsTable>, tags: readonly string[]): CallView };
  /** What other gateways tell of their live calls, by ids; null = there are none. */
  readonly live: () => Pick<LiveCalls, 'fieldsOf'> | null;
}

/** Calls of other gateways that go on; more than these are not listed as live. */
const OPEN_MAX = 1000;
/** So long a list of calls that go on waits for the database. */
const LIVE_WITHIN_MS = 1000;
const STATES: readonly CallView['state'][] = ['dialing', 'live', 'ended'];

/** Reads lists of calls. */
export class CallLists {
  readonly texts: TextSearch;
  readonly #options: CallListsOptions;
  readonly #planned: PlannedCalls;

  constructor(options: CallListsOptions) {
    this.#options = options;
    const { database, clock } = options;
    this.#planned = new PlannedCalls(database);
    this.texts = new TextSearch({ reader: database.reader, kind: database.kind, clock });
  }

  /** At most `limit` calls behind `after` (null = from the first on). What memory knows of a call counts. */
  async list(
    memory: CallMemory,
    filter: CallFilter,
    { after, limit }: { after: CallPosition | null; limit: number },
  ): Promise<CallView[]> {
    if (filter.step !== undefined) return await this.#reached(memory, filter, { after, limit });
    const inMemory = memory.list();
    const known = new Set(inMemory.map(({ id }) => id));
    const stored = await this.#stored(known, filter, after, limit);
    return pageOfCalls([...inMemory.filter((call) => passes(call, filter)), ...stored], after, limit);
  }

  /** Memory does not know which steps its calls reached: the records of all calls are looked at. */
  async #reached(
    memory: CallMemory,
    filter: CallFilter,
    { after, limit }: { after: CallPosition | null; limit: number },
  ): Promise<CallView[]> {
    const stored = await this.#stored(new Set(), filter, after, limit);
    const calls = stored.map((view) => memory.get(view.id) ?? view);
    return pageOfCalls(
      calls.filter((call) => passes(call, filter)),
      after,
      limit,
    );
  }

  /** One page of a search; `next` = the number to go on below, null = that was all. */
  async searchPage(
    memory: CallMemory,
    query: SearchQuery,
    filter: CallFilter,
    { belowSeq, limit }: { belowSeq: number | null; limit: number },
  ): Promise<{ calls: FoundCallView[]; next: number | null }> {
    const found: FoundCall[] = [];
    for await (const slice of this.texts.find({ query, filter, belowSeq })) {
      found.push(...slice);
      if (found.length > limit) break;
    }
    const page = found.slice(0, limit);
    const next = found.length > limit ? (page.at(-1)?.seq ?? null) : null;
    return { calls: await this.show(memory, query, page), next };
  }

  /** Found calls as the API shows them; one that was deleted meanwhile is left out. */
  async show(memory: CallMemory, query: SearchQuery, found: readonly FoundCall[]): Promise<FoundCallView[]> {
    if (found.length === 0) return [];
    const { reader, kind } = this.#options.database;
    const seqs = found.map(({ seq }) => seq);
    const textIds = found.flatMap((call) => call.textIds);
    const [rows, texts] = await Promise.all([
      reader
        .selectFrom('calls')
        .selectAll()
        .select(tagsOf('calls.seq', kind).as('tags'))
        .where('seq', 'in', seqs)
        .execute(),
      reader.selectFrom('texts').select(['call_seq', 'track', 'start_ms', 'text']).where('id', 'in', textIds).execute(),
    ]);
    const views = new Map((await this.#views(rows)).map((view, index) => [rows[index]?.seq, view]));
    const textsOf = groupBy(texts, ({ call_seq }) => call_seq);
    return found.flatMap(({ seq }) => {
      const view = views.get(seq);
      if (view === undefined) return [];
      return [{ view: memory.get(view.id) ?? view, found: toFound(textsOf.get(seq) ?? [], query) }];
    });
  }

  async #stored(
    known: ReadonlySet<string>,
    filter: CallFilter,
    after: CallPosition | null,
    limit: number,
  ): Promise<CallView[]> {
    if (filter.state === 'dialing' || filter.state === 'live') return this.#goingOn(known, filter);
    const from = after?.state === 'ended' ? after : null;
    const [open, ended] = await Promise.all([
      from === null ? this.#open(filter) : [],
      // Calls in memory may be among them.
      this.#planned.ended(filter, from, limit + known.size),
    ]);
    return this.#views([...open, ...ended].filter(({ id }) => !known.has(id)));
  }

  /** Memory has the calls of this gateway: a database that fails or does not answer must not hide them. */
  async #goingOn(known: ReadonlySet<string>, filter: CallFilter): Promise<CallView[]> {
    const stored = this.#open(filter)
      .then((open) => this.#views(open.filter(({ id }) => !known.has(id))))
      .catch((error: unknown) => (isDatabaseTrouble(error) ? [] : Promise.reject(error)));
    return (await settlesWithin(this.#options.clock, stored, LIVE_WITHIN_MS)) ? stored : [];
  }

  /** Calls that go on: where several gateways share a database, not all of them are in memory. */
  async #open(filter: CallFilter): Promise<TaggedCall[]> {
    const { reader, kind } = this.#options.database;
    if (filter.state === 'ended') return [];
    // SQLite would take the index of any other condition, where there are many more calls.
    const from = sql.raw(kind === 'sqlite' ? 'calls INDEXED BY calls_open' : 'calls');
    const { rows } = await sql<TaggedCall>`SELECT calls.*, ${tagsOf('calls.seq', kind)} AS tags FROM ${from}
      WHERE state <> 'ended' AND ${sql.join(conditionsOf(filter), sql` AND `)}
      ORDER BY started_ms DESC LIMIT ${OPEN_MAX}`.execute(reader);
    return rows;
  }

  async #views(rows: readonly TaggedCall[]): Promise<CallView[]> {
    const openIds = rows.filter(({ state }) => state !== 'ended').map(({ id }) => id);
    const live = openIds.length === 0 ? undefined : await this.#options.live()?.fieldsOf(openIds);
    return rows.map((row) => {
      const tags = row.tags === null ? [] : (JSON.parse(row.tags) as string[]);
      return { ...this.#options.calls.toView(row, tags), ...live?.get(row.id) };
    });
  }
}

/** Of `calls` those behind `after`, in order, at most `limit`. */
export function pageOfCalls(calls: readonly CallView[], after: CallPosition | null, limit: number): CallView[] {
  return calls
    .map((view) => ({ view, position: positionOf(view) }))
    .filter(({ position }) => after === null || compare(position, after) > 0)
    .toSorted((a, b) => compare(a.position, b.position))
    .slice(0, limit)
    .map(({ view }) => view);
}

/** Where a call stands. */
export function positionOf({ id, state, startedAt }: CallView): CallPosition {
  return { id, state, startedMs: Date.parse(startedAt) };
}

function compare(a: CallPosition, b: CallPosition): number {
  if (a.state !== b.state) return STATES.indexOf(a.state) - STATES.indexOf(b.state);
  if (a.startedMs !== b.startedMs) return b.startedMs - a.startedMs;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

function groupBy<T>(rows: readonly T[], keyOf: (row: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

type TextRow = Pick<Selectable<TextsTable>, 'track' | 'start_ms' | 'text'>;

function toFound(texts: readonly TextRow[], query: SearchQuery): FoundText[] {
  return texts
    .toSorted((a, b) => a.start_ms - b.start_ms)
    .map(({ track, start_ms, text }) => ({ track, startMs: start_ms, parts: snippetOf(text, query) }));
}
