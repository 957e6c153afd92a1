/** How long it takes to find calls by each filter among very many, near the database and far from it. */
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { type CallFilter, readParty } from '../../src/records/search/call-filter.ts';
import { CallLists } from '../../src/records/search/call-lists.ts';
import { parseSearch } from '../../src/records/search/search-query.ts';
import { StoredCalls } from '../../src/records/stored-calls.ts';
import { whyNoPostgres } from '../helpers/postgres.ts';
import { postgresPlaces, type RecordsPlace, sqlitePlaces } from './records-places.ts';
import { figure, type Report, type Table } from './report.ts';
import { fillCalls, START_MS, STEP_MS } from './search-calls.ts';
import { openSlowWay } from './slow-way.ts';

const NEAR_GOAL_MS = 100;
const FAR_GOAL_MS = 300;
const EACH_WAY_MS = 5;
const PAGE = 100;

export interface SearchBenchOptions {
  readonly calls: number;
  readonly rounds: number;
  /** Also in PostgreSQL. */
  readonly postgres: boolean;
}

interface SearchKind {
  readonly name: string;
  filterOf(calls: number, round: number): CallFilter;
  /** What was said. */
  readonly q?: string;
}

const numberOf = (calls: number, round: number): string =>
  String((round * 7919) % Math.ceil(calls / 20)).padStart(7, '0');

const KINDS: readonly SearchKind[] = [
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
  { name: 'a rare word', q: 'word77', filterOf: () => ({}) },
];

function hourOf(calls: number, round: number): CallFilter {
  const sinceMs = START_MS + Math.floor((calls * STEP_MS * (round % 10)) / 10);
  return { sinceMs, untilMs: sinceMs + 3_600_000 };
}

interface Measured {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly queries: number;
  readonly found: number;
}

/** Runs the benchmark. @throws Error when PostgreSQL is asked for and not installed */
export async function benchSearch({ calls, rounds, postgres }: SearchBenchOptions): Promise<Report> {
  if (postgres && whyNoPostgres !== '') throw new Error('--postgres: PostgreSQL is not installed');
  const tables: Table[] = [];
  const goals: Report['goals'][number][] = [];
  for (const open of postgres ? [sqlitePlaces, postgresPlaces] : [sqlitePlaces]) {
    const places = await open();
    try {
      const place = await places.make();
      const near = await place.open();
      process.stderr.write(`${places.name}: ${calls} calls are stored\n`);
      await fillCalls(near, calls);
      const title = `${places.name}, ${calls.toLocaleString('en')} calls with five events each`;
      const measuredNear = await measureAll(near, { calls, rounds });
      goals.push(goalOf(`${title}, loopback`, measuredNear, NEAR_GOAL_MS));
      await near.close();
      const measuredFar = near.kind === 'postgres' ? await measureFar(place, { calls, rounds }) : null;
      if (measuredFar !== null) goals.push(goalOf(`${title}, 10 ms round trip`, measuredFar, FAR_GOAL_MS));
      tables.push(tableOf(title, measuredNear, measuredFar));
    } finally {
      await places.remove();
    }
  }
  return {
    name: 'search',
    about: 'How long it takes to find calls by each filter among very many, with the database near and far.',
    tables,
    notes: [
      'One page of 100 calls, through the records of a gateway. Statements: what one page takes at most, with those ' +
        'that are sent at the same time.',
      'A number has 20 calls, an agent 1 in 200, a queue 1 in 10, a flow 1 in 20, the tag and the rare outcome 1 in ' +
        '5,000, the rare name and an hour 1 in 10,000. One text of each call says `refund` and one of 1,000 words.',
      'Far: a proxy before the server holds each packet 5 ms in each direction.',
    ],
    goals,
  };
}

async function measureFar(place: RecordsPlace, size: { calls: number; rounds: number }): Promise<Measured[]> {
  const url = new URL(place.environment['DATABASE_URL'] ?? '');
  const way = await openSlowWay(Number(url.port), EACH_WAY_MS);
  url.port = String(way.port);
  const far = await openPostgresRecords(url.href, { clock: systemClock, log: createLog('silent') });
  try {
    return await measureAll(far, size);
  } finally {
    await far.close();
    await way.close();
  }
}

async function measureAll(database: RecordsDatabase, size: { calls: number; rounds: number }): Promise<Measured[]> {
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

function tableOf(title: string, near: readonly Measured[], far: readonly Measured[] | null): Table {
  const rows = KINDS.map(({ name }, at) => {
    const [close, distant] = [near[at], far?.[at]];
    const farCells = distant === undefined ? [] : [figure(distant.p50Ms, 1), figure(distant.p95Ms, 1)];
    return [
      name,
      close?.found ?? 0,
      close?.queries ?? 0,
      figure(close?.p50Ms ?? 0, 1),
      figure(close?.p95Ms ?? 0, 1),
      ...farCells,
    ];
  });
  const heads = [
    'what',
    'calls',
    'statements',
    'p50 ms',
    'p95 ms',
    ...(far === null ? [] : ['far p50 ms', 'far p95 ms']),
  ];
  return { title, heads, rows };
}

function goalOf(title: string, measured: readonly Measured[], goalMs: number): Report['goals'][number] {
  const worst = measured.reduce((most, { p95Ms }, at) => (p95Ms > (measured[most]?.p95Ms ?? 0) ? at : most), 0);
  const slowest = measured[worst]?.p95Ms ?? 0;
  return {
    goal: `p95 of each filter ≤ ${goalMs} ms (${title})`,
    found: `${figure(slowest, 1)} ms: ${KINDS[worst]?.name}`,
    met: slowest <= goalMs,
  };
}
