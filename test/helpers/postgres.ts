/** PostgreSQL servers for tests, each in a folder of its own, on a free port of loopback. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './ports.ts';

const run = promisify(execFile);

const INSTALLED = '/usr/lib/postgresql';

function findPrograms(): string | null {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
  const [newest] = versions.toSorted((a, b) => Number(b) - Number(a));
  const programs = join(INSTALLED, newest ?? '', 'bin');
  return existsSync(join(programs, 'postgres')) ? programs : null;
}

const PROGRAMS = findPrograms();

/** For the name of a test: '' where PostgreSQL is installed, else that the test is not run. */
export const whyNoPostgres = PROGRAMS === null ? ' (not run: PostgreSQL is not installed)' : '';

/** A running server that other files use as well: a test has databases of its own on it and leaves it as it is. */
export interface SharedPostgres {
  /** Makes an empty database. Returns its URL. */
  createDatabase(): Promise<string>;
}

/** A running server of one file. */
export interface TestPostgres extends SharedPostgres {
  /** Runs statements as the server's operator, outside of any transaction. */
  operate(...statements: readonly string[]): Promise<void>;
  /** Ends the server as a crash would, or as its operator does. */
  stop(how: 'crash' | 'shutdown'): Promise<void>;
  /** Starts it again, on the same port. */
  start(): Promise<void>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
}

/** As a user who is not root: PostgreSQL refuses to run as root. */
function asOther(program: string, args: readonly string[]): [program: string, args: readonly string[]] {
  return process.geteuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, args];
}

/** What it wrote outlives its own end, however it comes; that of the machine is not tested. */
const HASTY = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];

/**
 * A server without databases in the folder `data`. `initdb` takes a second or two, so what it made is kept and copied;
 * several processes may make it at once.
 */
async function copyEmptyServer(programs: string, folder: string, data: string): Promise<void> {
  const kept = join('node_modules', '.cache', `trunkline-postgres-${basename(dirname(programs))}`);
  if (!existsSync(kept)) {
    const made = join(folder, 'made');
    const [program, args] = asOther(join(programs, 'initdb'), [
      '-N',
      '-D',
      made,
      '-U',
      'tester',
      '-A',
      'trust',
      '-E',
      'UTF8',
    ]);
    await run(program, [...args], { cwd: folder });
    mkdirSync(dirname(kept), { recursive: true });
    const copy = `${kept}-${basename(folder)}`;
    await run('cp', ['-a', made, copy]);
    // Another process may have been faster.
    await rename(copy, kept).catch(() => rm(copy, { recursive: true }));
    await rename(made, data);
    return;
  }
  await run('cp', ['-a', kept, data]);
}

/** Where the folders of shared servers are; `shared-servers.ts` ends them after the last test. */
export const SHARED_SERVERS = 'TRUNKLINE_TEST_SERVERS';

// Files that share a process share it.
const SHARED = Symbol.for('trunkline.shared-postgres');

/**
 * The server of this worker, which goes on after the file: one that is neither stopped nor changed costs a start and
 * an end of a second.
 * @throws Error when PostgreSQL is not installed; see {@link whyNoPostgres}
 */
export function sharedPostgres(): Promise<SharedPostgres> {
  const worker = globalThis as typeof globalThis & { [SHARED]?: Promise<SharedPostgres> };
  worker[SHARED] ??= startPostgres(process.env[SHARED_SERVERS]);
  return worker[SHARED];
}

/** Ends the servers that workers have left in `folder`. */
export async function endSharedServers(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [stopper, words] = asOther(join(PROGRAMS ?? '', 'pg_ctl'), [
      ...['stop', '-D', join(folder, name, 'data'), '-m', 'immediate', '-w'],
    ]);
    // One that never ran has nothing to end.
    await run(stopper, [...words], { cwd: folder }).catch(() => undefined);
  }
}

/** `parent` = where its folder is made. @throws Error when PostgreSQL is not installed; see {@link whyNoPostgres} */
export async function startPostgres(parent = tmpdir()): Promise<TestPostgres> {
  if (PROGRAMS === null) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(parent, 'trunkline-postgres-'));
  if (process.geteuid?.() === 0) await run('chown', ['postgres', folder]);
  else chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  await copyEmptyServer(PROGRAMS, folder, data);
  const port = await freePort();
  const url = (database: string): string => `postgres://tester@127.0.0.1:${port}/${database}`;
  let server: ChildProcess | null = null;
  let databases = 0;
  const start = async (): Promise<void> => {
    const [starter, words] = asOther(join(PROGRAMS, 'postgres'), [
      ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, ...HASTY],
    ]);
    server = spawn(starter, words, { cwd: folder, stdio: 'ignore' });
    await ready(url('postgres'));
  };
  const stop = async (how: 'crash' | 'shutdown'): Promise<void> => {
    if (server === null) return;
    const ended = once(server, 'exit');
    const mode = how === 'crash' ? 'immediate' : 'fast';
    const [stopper, words] = asOther(join(PROGRAMS ?? '', 'pg_ctl'), ['stop', '-D', data, '-m', mode, '-w']);
    await run(stopper, [...words], { cwd: folder });
    await ended;
    server = null;
  };
  await start();
  return {
    createDatabase: async () => {
      const name = `records_${++databases}`;
      await withClient(url('postgres'), (client) => client.query(`CREATE DATABASE ${name}`));
      return url(name);
    },
    operate: (...statements) =>
      withClient(url('postgres'), async (client) => {
        for (const statement of statements) await client.query(statement);
      }),
    stop,
    start,
    remove: async () => {
      await stop('crash');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ready(url: string): Promise<void> {
  for (let looks = 0; ; looks++) {
    try {
      await withClient(url, (client) => client.query('SELECT 1'));
      return;
    } catch (error) {
      if (looks > 1000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
