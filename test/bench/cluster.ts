/** What it costs that several gateways share a feed and a store: each is a process, all on this machine. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { benchCommands } from './cluster-commands.ts';
import type { Figures, GatewayKind, Order } from './cluster-gateway.ts';
import { figure, type Report, type Table } from './report.ts';

const GOAL_FOREIGN_P99_MS = 100;
/** Of both sides of a call: what it tells in a second while somebody speaks. */
const EVENTS_PER_TRACK = 3;
const TRACKS = 2000;
/** To one call. */
const COMMANDS = 500;
/** Clock ticks of /proc. */
const TICK_MS = 10;

/** How much is measured. */
export interface ClusterBenchOptions {
  readonly seconds: number;
  readonly gateways: readonly number[];
  /** Events a second of all gateways together, one run each. */
  readonly rates: readonly number[];
  readonly calls: number;
}

interface Run {
  readonly gateways: number;
  readonly perSecond: number;
  readonly published: number;
  readonly lost: number;
  readonly own: readonly [number, number];
  readonly foreign: readonly [number, number];
  readonly cpuMs: number;
  readonly databaseCpuMs: number;
}

/** One process. */
class Child {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = fork(fileURLToPath(new URL('./cluster-gateway.ts', import.meta.url)));
  }

  async ask(order: Order): Promise<Figures> {
    const answered = once(this.#process, 'message');
    this.#process.send(order);
    const [figures] = (await answered) as [Figures];
    return figures;
  }

  async close(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.send({ do: 'close' } satisfies Order);
    await exited;
  }
}

/** Runs the benchmark. @throws Error when PostgreSQL is not installed */
export async function benchCluster(options: ClusterBenchOptions): Promise<Report> {
  if (whyNoPostgres !== '') throw new Error('PostgreSQL is not installed');
  const [loadBefore] = loadavg();
  const postgres = await startPostgres();
  try {
    const alike: Run[] = [];
    const [first = 1000, ...more] = options.rates;
    for (const gateways of options.gateways) alike.push(await measure(postgres, gateways, first, options.seconds));
    const most = options.gateways.at(-1) ?? 2;
    const faster: Run[] = [];
    for (const rate of more) faster.push(await measure(postgres, most, rate, options.seconds));
    const kinds = await measureKinds(postgres, options.calls);
    const commands = await benchCommands(postgres, COMMANDS);
    const runs = [...alike, ...faster];
    return {
      name: 'cluster',
      about: 'Several gateways that share PostgreSQL: how late events of one are at another, and what the store costs.',
      tables: [feedTable(runs), costTable(alike), kindTable(kinds), paperTable(runs), commands],
      notes: notesOf(loadBefore ?? 0),
      goals: goalsOf(alike),
    };
  } finally {
    await postgres.remove();
  }
}

async function measure(postgres: TestPostgres, gateways: number, perSecond: number, seconds: number): Promise<Run> {
  process.stderr.write(`${gateways} gateways, ${perSecond} events/s\n`);
  const url = await postgres.createDatabase();
  const children = Array.from({ length: gateways }, () => new Child());
  await Promise.all(children.map((child, n) => child.ask({ do: 'open', kind: 'cluster', url, name: `g${n}` })));
  const before = await databaseCpuMs(url);
  const each = { do: 'publish', perSecond: perSecond / gateways, seconds } as const;
  const figures = await Promise.all(children.map((child) => child.ask(each)));
  const databaseMs = (await databaseCpuMs(url)) - before;
  await Promise.all(children.map((child) => child.close()));
  const sum = (of: (one: Figures) => number): number => figures.reduce((all, one) => all + of(one), 0);
  const worst = (of: (one: Figures) => readonly [number, number]): [number, number] => [
    Math.max(...figures.map((one) => of(one)[0])),
    Math.max(...figures.map((one) => of(one)[1])),
  ];
  // Captions alone carry a time: six of eight events.
  const captions = Math.max(...figures.map(({ read }) => read));
  return {
    gateways,
    perSecond,
    published: sum(({ published }) => published),
    lost: sum(({ read }) => captions - read),
    own: worst(({ own }) => own),
    foreign: worst(({ foreign }) => foreign),
    cpuMs: sum(({ cpuMs }) => cpuMs) / seconds,
    databaseCpuMs: databaseMs / seconds,
  };
}

async function measureKinds(postgres: TestPostgres, calls: number): Promise<{ kind: string; cpuMs: number }[]> {
  const kinds: readonly GatewayKind[] = ['nothing kept', 'SQLite', 'PostgreSQL', 'cluster'];
  const measured: { kind: string; cpuMs: number }[] = [];
  for (const kind of kinds) {
    process.stderr.write(`${calls} calls: ${kind}\n`);
    const child = new Child();
    await child.ask({ do: 'open', kind, url: await postgres.createDatabase(), name: 'g' });
    await child.ask({ do: 'calls', calls: Math.ceil(calls / 5) });
    const { cpuMs } = await child.ask({ do: 'calls', calls });
    measured.push({ kind, cpuMs });
    await child.close();
  }
  return measured;
}

/** What the processes of the server have used so far. */
async function databaseCpuMs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  const own = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await client.end();
  const pids = rows.map(({ pid }) => pid).filter((pid) => pid !== own.rows[0]?.pid);
  return pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, fields 14 and 15. */
function cpuMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

const pair = ([p50, p99]: readonly [number, number]): string =>
  Number.isNaN(p50) || p50 === 0 ? '–' : `${figure(p50, 1)} / ${figure(p99, 1)}`;

function feedTable(runs: readonly Run[]): Table {
  return {
    title: 'The feed',
    heads: ['gateways', 'events/s asked', 'events published', 'own, ms p50 / p99', 'of others, ms p50 / p99', 'missed'],
    rows: runs.map((run) => [run.gateways, run.perSecond, run.published, pair(run.own), pair(run.foreign), run.lost]),
  };
}

function costTable(runs: readonly Run[]): Table {
  return {
    title: 'How cost grows with gateways',
    heads: ['gateways', 'events/s', 'CPU of all gateways, ms/s', 'of PostgreSQL, ms/s', 'both per 1,000 events, ms'],
    rows: runs.map(({ gateways, perSecond, cpuMs, databaseCpuMs: database }) => [
      gateways,
      perSecond,
      figure(cpuMs, 0),
      figure(database, 0),
      figure(((cpuMs + database) / perSecond) * 1000, 0),
    ]),
  };
}

function kindTable(kinds: readonly { kind: string; cpuMs: number }[]): Table {
  return {
    title: 'The store, for one call of five minutes',
    heads: ['one gateway', 'CPU of the gateway, ms'],
    rows: kinds.map(({ kind, cpuMs }) => [
      kind === 'cluster' ? 'PostgreSQL, one of a cluster' : kind,
      figure(cpuMs, 1),
    ]),
  };
}

/** What 2,000 tracks that all speak would tell, and what was borne here. */
function paperTable(runs: readonly Run[]): Table {
  const needed = TRACKS * EVENTS_PER_TRACK;
  const borne = runs.filter(({ foreign, lost }) => lost === 0 && !(foreign[1] > 1000));
  const most = Math.max(...borne.map(({ perSecond }) => perSecond), 0);
  const dearest = runs.at(-1);
  const cpuPer = dearest === undefined ? 0 : (dearest.cpuMs + dearest.databaseCpuMs) / dearest.perSecond;
  return {
    title: `${TRACKS.toLocaleString('en')} tracks that speak at once`,
    heads: ['what', 'figure'],
    rows: [
      [`events/s, ${EVENTS_PER_TRACK} of each track`, needed],
      ['most events/s here with p99 within a second and none missed', most],
      [`cores for ${needed} events/s, on paper, at the CPU of the last row above`, figure((cpuPer * needed) / 1000, 1)],
    ],
  };
}

function notesOf(load: number): string[] {
  return [
    'Each gateway is a process that publishes its share of the events and has one reader. All of them and PostgreSQL ' +
      'are on this machine. An utterance is eight events: five partial captions, the final one, which is stored, its ' +
      'beginning and its end. The worst gateway counts.',
    'Missed: captions that a gateway had not been told two seconds after the last.',
    'A call of five minutes has 57 utterances. They are told as fast as they can be kept; the CPU of SQLite’s ' +
      'thread counts, that of PostgreSQL does not.',
    `The load average was ${figure(load, 1)} before: other work changes all of these figures.`,
  ];
}

function goalsOf(runs: readonly Run[]): Report['goals'] {
  const several = runs.filter(({ gateways }) => gateways > 1);
  const worst = Math.max(...several.map(({ foreign }) => foreign[1]));
  const missed = several.reduce((sum, { lost }) => sum + lost, 0);
  return [
    {
      goal: `p99 of events of other gateways ≤ ${GOAL_FOREIGN_P99_MS} ms`,
      found: `${figure(worst, 1)} ms`,
      met: worst <= GOAL_FOREIGN_P99_MS,
    },
    { goal: 'no event is missed', found: String(missed), met: missed === 0 },
  ];
}
