/** The kinds of searches that are measured, and how long each takes. */
import { systemClock } from '../../src/foundation/clock.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { type CallFilter, readParty } from '../../src/records/search/call-filter.ts';
import { CallLists } from '../../src/records/search/call-lists.ts';
import { parseSearch } from '../../src/records/search/search-query.ts';
import { StoredCalls } from '../../src/records/stored-calls.ts';
import { START_MS, STEP_MS } from './search-calls.ts';

const PAGE = 100;

/** One of {@link KINDS}. `calls`: how many are stored; each round asks for others. */
interface SearchKind {
  readonly name: string;
  filterOf(calls: number, round: number): CallFilter;
  /** What was said. */
  readonly q?: string;
}

const numberOf = (calls: number, round: number): string =>
  String((round * 7919) % Math.ceil(calls / 20)).padStart(7, '0');

/** Each kind of search that is measured. */
export const KINDS: readonly SearchKind[] = [
  { name: 'no filter', filterOf: () => ({}) },
  {
    name: 'a caller with 20 calls',
    filterOf: (calls, round) => ({ party: readParty(`+1415${numberOf(calls, round)}`) }),
  },
  {
    name: 'the beginning of a number',
    filterOf: (calls, round) => ({ party: readParty(`+1415${numberOf(calls, round).slice(0, 6)}*`) }),
  },
  {
    name: 'the end of a number',
    filterOf: (calls, round) => ({ party: readParty(`*${numberOf(calls, round).slice(-5)}`) }),
  },
  { name: 'the last two digits', filterOf: (_calls, round) => ({ party: readParty(`*${10 + round}`) }) },
  { name: 'a number that nobody has', filterOf: () => ({ party: readParty('*999888777') }) },
  { name: 'part of a rare name', filterOf: () => ({ name: 'aripos' }) },
  { name: 'a name that nobody has', filterOf: () => ({ name: 'xylophone' }) },
  { name: 'a tag', filterOf: () => ({ tag: 'vip' }) },
  { name: 'an unknown tag', filterOf: () => ({ tag: 'unknown' }) },
  { name: 'an agent', filterOf: (_calls, round) => ({ agent: `agent${round}` }) },
  { name: 'an unknown agent', filterOf: () => ({ agent: 'nobody' }) },
  { name: 'a queue', filterOf: (_calls, round) => ({ queue: `queue${round % 10}` }) },
  { name: 'a flow', filterOf: (_calls, round) => ({ flow: `flow${round % 20}` }) },
  { name: 'an outcome', filterOf: () => ({ outcome: 'solved' }) },
  { name: 'a rare outcome', filterOf: () => ({ outcome: 'lost' }) },
  { name: 'an hour long', filterOf: () => ({ minDurationMs: 3_600_000 }) },
  { name: 'shorter than a second', filterOf: () => ({ maxDurationMs: 1000 }) },
  { name: 'an hour of time', filterOf: (calls, round) => hourOf(calls, round) },
  {
    name: 'an agent, a queue and a rare outcome',
    filterOf: () => ({ agent: 'agent0', queue: 'queue0', outcome: 'lost' }),
  },
  { name: 'an agent with a tag', filterOf: () => ({ agent: 'agent0', tag: 'vip' }) },
  { name: 'an agent, in an hour of time', filterOf: (calls, round) => ({ agent: 'agent1', ...hourOf(calls, round) }) },
  {
    name: 'a rare word, of one caller',
    q: 'word77',
    filterOf: (calls) => ({ party: readParty(`+1415${numberOf(calls, 0)}`) }),
  },
  { name: 'the most frequent word, with a tag', q: 'refund', filterOf: () => ({ tag: 'vip' }) },
  { name: 'the most frequent word, in a queue', q: 'refund', filterOf: () => ({ queue: 'queue3' }) },
  { name: 'a step of a flow', filterOf: () => ({ step: { flow: 'flow3', step: 'start' } }) },
  { name: 'a rare word', q: 'word77', filterOf: () => ({}) },
];

function hourOf(calls: number, round: number): CallFilter {
  const sinceMs = START_MS + Math.floor((calls * STEP_MS * (round % 10)) / 10);
  return { sinceMs, untilMs: sinceMs + 3_600_000 };
}

/** What one kind of search took. `queries`: statements of one page at most. */
export interface Measured {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly queries: number;
  readonly found: number;
}

/** Measures all of {@link KINDS} in `database`, which has `calls` calls of fillCalls, `rounds` times each. */
export async function measureAll(
  database: RecordsDatabase,
  size: { calls: number; rounds: number },
): Promise<Measured[]> {
  const calls = new StoredCalls(database, async () => undefined);
  const lists = new CallLists({ database, clock: systemClock, calls, live: () => null });
  const counter = countQueries(database);
  const measured: Measured[] = [];
  for (const kind of KINDS) measured.push(await measure(lists, counter, kind, size));
  return measured;
}

async function measure(
  lists: CallLists,
  counter: { queries: number },
  { filterOf, q }: SearchKind,
  { calls, rounds }: { calls: number; rounds: number },
): Promise<Measured> {
  const memory = { list: () => [], get: () => undefined };
  const took: number[] = [];
  let [queries, found] = [0, 0];
  for (let round = -1; round < rounds; round++) {
    const filter = filterOf(calls, Math.max(round, 0));
    counter.queries = 0;
    const beganMs = systemClock.nowMs();
    if (q === undefined) found = (await lists.list(memory, filter, { after: null, limit: PAGE })).length;
    else found = (await lists.searchPage(memory, parseSearch(q), filter, { belowSeq: null, limit: PAGE })).calls.length;
    // The first one warms connections and caches up.
    if (round >= 0) took.push(systemClock.nowMs() - beganMs);
    queries = Math.max(queries, counter.queries);
  }
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { p50Ms: at(0.5), p95Ms: at(0.95), queries, found };
}

function countQueries({ reader }: RecordsDatabase): { queries: number } {
  const counter = { queries: 0 };
  const executor = reader.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (query) => {
    counter.queries++;
    return execute(query);
  };
  return counter;
}
