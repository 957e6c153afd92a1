/** A real gateway in a process of its own, as an operator runs it, for benchmarks and end-to-end tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import type { Constants } from '../../src/foundation/settings/constants.ts';
import { splitConstants } from './settings.ts';

const CLOCK_TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** One log line of the gateway. */
export type LogLine = Readonly<Record<string, unknown>>;

/** What a process has used so far: CPU seconds and resident memory. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** A running gateway. */
export interface GatewayProcess {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly pid: number;
  readonly logLines: readonly LogLine[];
  /** Its engine processes now. */
  enginePids(): number[];
  /** The Prometheus page. */
  metrics(): Promise<string>;
  /** Sends `signal` (SIGTERM by default) and resolves with the exit code, null when the signal killed it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves with the exit code when the process ends by itself. */
  readonly exited: Promise<number | null>;
}

/** Log levels that leave out the line in which a gateway says where it listens. */
const TOO_QUIET = ['silent', 'fatal', 'error', 'warn'];

/**
 * Starts `trunkline serve` from `dist` on a free loopback port with `environment` added. The words of `through` are a
 * program that runs it and their `pid` is its own, e.g. `nsenter`, which becomes the gateway.
 * @throws Error when it ends before it listens, or would not say where
 */
export async function startGateway(
  environment: Readonly<Record<string, string>> = {},
  through: readonly string[] = [],
): Promise<GatewayProcess> {
  const { LOG_LEVEL = 'info' } = environment;
  if (TOO_QUIET.includes(LOG_LEVEL))
    throw new Error(`LOG_LEVEL=${LOG_LEVEL} leaves out the line that says where the gateway listens`);
  const { constants, others } = splitConstants(environment);
  const [program = '', ...words] = [...through, process.execPath, ...serveWith(constants)];
  const child = spawn(program, words, {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      MODELS_DIR: 'none',
      DATA_DIR: 'none',
      ...others,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const logLines: LogLine[] = [];
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await Promise.race([
    listeningUrl(child, logLines),
    exited.then((code) => failStart(code, logLines, errors)),
  ]);
  const pid = child.pid ?? 0;
  return {
    url,
    pid,
    logLines,
    enginePids: () => childPids(pid),
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
    exited,
  };
}

/** What node runs; operators have no way to other constants. */
function serveWith(constants: Partial<Constants>): string[] {
  if (Object.keys(constants).length === 0) return [packagePath('dist', 'src', 'cli.js'), 'serve'];
  return [packagePath('test', 'helpers', 'serve-with-constants.mjs'), JSON.stringify(constants)];
}

function listeningUrl(child: ChildProcess, logLines: LogLine[]): Promise<string> {
  return new Promise((resolve) => {
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = parseLine(line);
      if (entry === null) return;
      logLines.push(entry);
      if (entry['msg'] === 'listening') resolve(String(entry['url']));
    });
  });
}

function parseLine(line: string): LogLine | null {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return null;
  }
}

function failStart(code: number | null, logLines: readonly LogLine[], errors: readonly string[]): never {
  throw new Error(
    `the gateway ended with ${code} before it listened: ${errors.join('')}${JSON.stringify(logLines.slice(-3))}`,
  );
}

function childPids(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** What process `pid` has used so far (Linux). */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuSeconds: ticks / CLOCK_TICKS_PER_SECOND, rssBytes: Number(fields[21]) * PAGE_BYTES };
}

/** The value of one sample of a Prometheus page, e.g. `nodejs_eventloop_lag_p99_seconds`; NaN when it is not there. */
export function metricValue(page: string, sample: string): number {
  const line = page.split('\n').find((candidate) => candidate.startsWith(`${sample} `));
  return line === undefined ? Number.NaN : Number(line.slice(sample.length + 1));
}
