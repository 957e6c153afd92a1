/**
 * What several engine processes with the same recogniser take in memory: with weights that they share, and with their
 * own. See engine/packed-weights.ts.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { arithmeticClip } from '../e2e/parity/arithmetic-clip.ts';
import { figure, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';

/** What is done. */
export interface WeightsOptions {
  /** A folder with a recogniser. */
  readonly model: string;
  readonly processes: readonly number[];
}

const CLIP_SAMPLES = 16_000;
/** All processes must be ready before that. */
const IDLE_MS = 15_000;
const POLL_MS = 50;
const POLLS_MAX = 2400;
/** Of a processor's time, as Linux counts it. */
const TICK_MS = 10;

/** Of all engine processes together, in MB. */
interface Weighed {
  readonly weights: 'shared' | 'own';
  readonly processes: number;
  readonly startMs: number;
  /** Proportional set size: what is mapped by several counts once. */
  readonly pssMb: number;
  readonly privateMb: number;
  /** CPU ms of a reading of 1 s. */
  readonly readingMs: number;
  /** Processes that are left after a while without work. */
  readonly leftWhenIdle: number;
}

/** Runs the benchmark. */
export async function benchWeights({ model, processes }: WeightsOptions): Promise<Report> {
  const work = mkdtempSync(join(tmpdir(), 'trunkline-weights-'));
  const rows: Weighed[] = [];
  try {
    const caches = { shared: join(work, 'shared'), own: join(work, 'own') };
    mkdirSync(caches.own);
    // A folder that others can write is not used.
    chmodSync(caches.own, 0o777);
    // The first start writes the files.
    await (await start(model, 1, caches.shared)).close();
    for (const count of processes)
      for (const weights of ['own', 'shared'] as const) rows.push(await weigh(model, count, weights, caches[weights]));
  } finally {
    rmSync(work, { recursive: true });
  }
  return report(rows);
}

function start(model: string, count: number, cacheDir: string): Promise<ManagedEngine> {
  return startEngineClient(count, {
    ASR_MODEL: resolve(model),
    MODEL_CACHE_DIR: cacheDir,
    ENGINE_IDLE_MS: String(IDLE_MS),
    ENGINE_MEMORY_BYTES: String(2 ** 40),
  });
}

async function weigh(model: string, count: number, weights: 'shared' | 'own', cacheDir: string): Promise<Weighed> {
  const startMs = systemClock.nowMs();
  const engine = await start(model, count, cacheDir);
  try {
    await until(() => engine.status.ready === count);
    const readyMs = systemClock.nowMs() - startMs;
    await readAll(engine, count);
    const pids = [...engine.status.pids];
    const beforeMs = sum(pids, cpuMs);
    await readAll(engine, count);
    const readingMs = (sum(pids, cpuMs) - beforeMs) / count;
    const [pssMb, privateMb] = [/^Pss:/, /^Private_(?:Clean|Dirty):/].map((line) =>
      sum(pids, (pid) => mbOf(pid, line)),
    );
    await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)));
    const leftWhenIdle = engine.status.pids.length;
    return {
      weights,
      processes: count,
      startMs: readyMs,
      pssMb: pssMb ?? 0,
      privateMb: privateMb ?? 0,
      readingMs,
      leftWhenIdle,
    };
  } finally {
    await engine.close();
  }
}

/** One reading in each process. */
async function readAll(engine: ManagedEngine, count: number): Promise<void> {
  const jobs = Array.from({ length: count }, () =>
    engine.transcribe({ samples: arithmeticClip(3, CLIP_SAMPLES), urgency: 'final', dueInMs: 60_000, draft: [] }),
  );
  await Promise.all(jobs);
}

/** @throws Error when it takes longer than anything should */
async function until(condition: () => boolean): Promise<void> {
  for (let polls = 0; !condition(); polls++) {
    if (polls > POLLS_MAX) throw new Error(`it took more than ${(POLLS_MAX * POLL_MS) / 1000} s`);
    await sleep(systemClock, POLL_MS);
  }
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}

function mbOf(pid: number, line: RegExp): number {
  const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').split('\n');
  const kilobytes = lines.filter((each) => line.test(each)).map((each) => Number(/(\d+) kB/.exec(each)?.[1] ?? 0));
  return kilobytes.reduce((total, each) => total + each, 0) / 1024;
}

/** The fields behind the program's name: the 14th and 15th of proc(5) are user and system time. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return TICK_MS * (Number(fields[11]) + Number(fields[12]));
}

function report(rows: readonly Weighed[]): Report {
  const of = (weights: Weighed['weights'], processes: number) =>
    rows.find((row) => row.weights === weights && row.processes === processes);
  const most = Math.max(...rows.map(({ processes }) => processes));
  const [own, shared] = [of('own', most), of('shared', most)];
  const ratio = (shared?.pssMb ?? Number.NaN) / (own?.pssMb ?? Number.NaN);
  const slower = (shared?.readingMs ?? Number.NaN) / (own?.readingMs ?? Number.NaN);
  const left = Math.max(...rows.map(({ leftWhenIdle }) => leftWhenIdle));
  return {
    name: 'weights',
    about:
      'Memory of engine processes with one recogniser (`--model`), voice detection and speech, after each has read a ' +
      'second of sound twice; and what is left of them 15 s after their last work (ENGINE_IDLE_MS).',
    tables: [
      {
        title: 'All processes together',
        heads: [
          'processes',
          'weights',
          'memory (PSS), MB',
          'their own of it, MB',
          'start, s',
          'CPU ms of a reading',
          'left when idle',
        ],
        rows: rows.map(({ processes, weights, pssMb, privateMb, startMs, readingMs, leftWhenIdle }) => [
          processes,
          weights,
          figure(pssMb),
          figure(privateMb),
          figure(startMs / 1000, 1),
          figure(readingMs),
          leftWhenIdle,
        ]),
      },
    ],
    goals: [
      { goal: `${most} processes that share take ≤ 0.75 of the memory`, found: figure(ratio, 2), met: ratio <= 0.75 },
      { goal: 'a reading takes ≤ 1.05 of the time', found: figure(slower, 2), met: slower <= 1.05 },
      { goal: 'nothing is left when idle', found: String(left), met: left === 0 },
    ],
  };
}
