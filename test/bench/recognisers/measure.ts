/** Processor time of recognisers in processes of their own, measured in turn: so all feel the same load. */
import { Peer, type PeerAnswer } from '../peers/peer.ts';
import { figure } from '../report.ts';
import type { Runnable } from './rows.ts';

/** Processor seconds for each second of speech, and what came with them. */
export interface Cost {
  readonly perSecond: number;
  readonly tokens: number;
  /** The longest that the engine's thread was held; NaN of others' programs. */
  readonly longestMs: number;
}

/** What one program took. */
export interface Measured {
  /** By the names of the tasks. */
  readonly costs: ReadonlyMap<string, Cost>;
  readonly peakMb: number;
}

/** What was measured, or why nothing was. */
export type Found = Measured | { readonly missing: string };

/** Speech in a file, and how it is to be read. */
export interface Task {
  readonly name: string;
  readonly path: string;
  readonly seconds: number;
  readonly request: Readonly<Record<string, number>>;
}

/** A program, and what it has to do, in this order. */
export interface Program {
  readonly name: string;
  readonly runnable: Runnable;
  readonly tasks: readonly Task[];
}

/** Does each task so many times, the programs in turn; the least processor time counts. */
export async function measureTogether(programs: readonly Program[], rounds: number): Promise<Found[]> {
  const runs: Run[] = [];
  for (const program of programs) runs.push(await startRun(program));
  try {
    for (const task of new Set(programs.flatMap(({ tasks }) => tasks))) {
      for (let round = 0; round < rounds; round++) for (const run of runs) await run.do(task);
    }
    return runs.map((run) => run.found());
  } finally {
    await Promise.all(runs.map((run) => run.close()));
  }
}

/** Makes the graphs that a program makes once, in a process that is not measured. */
export async function prepare(runnable: Runnable): Promise<void> {
  if ('missing' in runnable) return;
  // What is wrong with it is told when it is measured.
  const peer = await Peer.start(runnable).catch(() => null);
  await peer?.close();
}

async function startRun({ name, runnable, tasks }: Program): Promise<Run> {
  if ('missing' in runnable) return new Run(runnable.missing, tasks);
  try {
    const peer = await Peer.start(runnable);
    process.stderr.write(`${name}: loaded in ${figure(peer.loadMs)} ms\n`);
    return new Run(peer, tasks);
  } catch (error) {
    return new Run(reasonOf(error), tasks);
  }
}

class Run {
  readonly #tasks: readonly Task[];
  readonly #answers = new Map<Task, PeerAnswer[]>();
  /** Or why there is none. */
  #peer: Peer | string;

  constructor(peer: Peer | string, tasks: readonly Task[]) {
    this.#peer = peer;
    this.#tasks = tasks;
  }

  async do(task: Task): Promise<void> {
    if (typeof this.#peer === 'string' || !this.#tasks.includes(task)) return;
    try {
      const answer = await this.#peer.transcribe(task.path, task.request);
      this.#answers.set(task, [...(this.#answers.get(task) ?? []), answer]);
    } catch (error) {
      await this.close();
      this.#peer = reasonOf(error);
    }
  }

  found(): Found {
    if (typeof this.#peer === 'string') return { missing: this.#peer };
    const costs = [...this.#answers].map(([task, answers]) => [task.name, costOf(task, answers)] as const);
    return { costs: new Map(costs), peakMb: this.#peer.memory().peakMb };
  }

  async close(): Promise<void> {
    if (typeof this.#peer !== 'string') await this.#peer.close();
  }
}

function costOf({ seconds }: Task, answers: readonly PeerAnswer[]): Cost {
  const least = answers.reduce((best, each) => (each.cpuMs < best.cpuMs ? each : best));
  const longest = answers.map(({ longestMs }) => longestMs ?? Number.NaN);
  return {
    perSecond: least.cpuMs / 1000 / seconds,
    tokens: least.tokens ?? Number.NaN,
    longestMs: Math.min(...longest),
  };
}

function reasonOf(error: unknown): string {
  return `did not run: ${error instanceof Error ? error.message : String(error)}`;
}
