/** How long it takes to find calls by each filter among very many, near the database and far from it. */
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import { whyNoPostgres } from '../helpers/postgres.ts';
import { postgresPlaces, type RecordsPlace, sqlitePlaces } from './records-places.ts';
import { figure, type Report, type Table } from './report.ts';
import { fillCalls, OLD_STEP } from './search-calls.ts';
import { KINDS, type Measured, measureAll } from './search-kinds.ts';
import { openSlowWay } from './slow-way.ts';

const NEAR_GOAL_MS = 100;
const FAR_GOAL_MS = 300;
const EACH_WAY_MS = 5;

export interface SearchBenchOptions {
  readonly calls: number;
  readonly rounds: number;
  /** Also in PostgreSQL. */
  readonly postgres: boolean;
}

/** Runs the benchmark. @throws Error when PostgreSQL is asked for and not installed */
export async function benchSearch({ calls, rounds, postgres }: SearchBenchOptions): Promise<Report> {
  if (postgres && whyNoPostgres !== '') throw new Error('--postgres: PostgreSQL is not installed');
  const tables: Table[] = [];
  const goals: Report['goals'][number][] = [];
  const upgrades: Table['rows'][number][] = [];
  for (const open of postgres ? [sqlitePlaces, postgresPlaces] : [sqlitePlaces]) {
    const places = await open();
    try {
      const place = await places.make();
      process.stderr.write(`${places.name}: ${calls} calls are stored\n`);
      const old = await place.openAt(OLD_STEP);
      await fillCalls(old, calls);
      await old.close();
      const beganMs = systemClock.nowMs();
      const near = await place.open();
      const upgradeMs = systemClock.nowMs() - beganMs;
      const title = `${places.name}, ${calls.toLocaleString('en')} calls with five events each`;
      const measuredNear = await measureAll(near, { calls, rounds });
      goals.push(goalOf(`${title}, loopback`, measuredNear, NEAR_GOAL_MS));
      await near.close();
      const measuredFar = near.kind === 'postgres' ? await measureFar(place, { calls, rounds }) : null;
      if (measuredFar !== null) goals.push(goalOf(`${title}, 10 ms round trip`, measuredFar, FAR_GOAL_MS));
      tables.push(tableOf(title, measuredNear, measuredFar));
      upgrades.push([places.name, figure(upgradeMs / 1000, 1)]);
    } finally {
      await places.remove();
    }
  }
  return {
    name: 'search',
    about: 'How long it takes to find calls by each filter among very many, with the database near and far.',
    tables: [...tables, { title: `Start with records of ${OLD_STEP}`, heads: ['where', 'seconds'], rows: upgrades }],
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
