/** The file of `npm run pack`, in an empty folder and without any registry. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const run = promisify(execFile);

/** Packing and unpacking write some 10,000 files. */
const INSTALL_MAX_MS = 300_000;

let folder: string;
let file: string;
let environment: Record<string, string | undefined>;

const npx = (...args: readonly string[]) => run('npx', ['--no', ...args], { cwd: folder, env: environment });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-packed-'));
  environment = {
    PATH: process.env['PATH'],
    HOME: folder,
    npm_config_cache: join(folder, 'cache'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    ENGINE_WORKERS: '1',
  };
  await run(process.execPath, [packagePath('scripts', 'pack.mjs'), folder]);
  file = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
  await run('npm', ['install', `./${file}`], { cwd: folder, env: environment });
}, INSTALL_MAX_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed program', () => {
  it('has no program that npm would run, and asks for no package that it does not bring', async () => {
    const { stdout } = await run('npm', ['query', ':attr(scripts, [postinstall])'], { cwd: folder, env: environment });
    expect(JSON.parse(stdout)).toEqual([]);
    const { dependencies } = JSON.parse(
      (await run('npm', ['ls', '--all', '--json'], { cwd: folder, env: environment })).stdout,
    );
    expect(Object.keys(dependencies)).toEqual(['trunkline']);
  });

  it('captions the simulated call of its demo', async () => {
    const { stdout } = await npx('trunkline', 'demo');
    expect(stdout).toContain('There are two lights on your modem, are they both green?');
    expect(stdout).toContain('npx trunkline serve');
  });

  it('serves its page, speaks, and ends when it is told to', async () => {
    const server = spawn(
      process.execPath,
      [join(folder, 'node_modules', 'trunkline', 'dist', 'src', 'cli.js'), 'serve'],
      {
        cwd: folder,
        env: { ...environment, PORT: '0', DATA_DIR: 'none' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    try {
      const url = await addressOf(server);
      expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: 'ok' });
      expect(await (await fetch(url)).text()).toContain('<title>');
      const speech = await fetch(`${url}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'Hello.', response_format: 'wav' }),
      });
      expect((await speech.arrayBuffer()).byteLength).toBeGreaterThan(10_000);
    } finally {
      server.kill('SIGTERM');
    }
    expect(await once(server, 'exit')).toEqual([0, null]);
  });

  it('is named after its version', () => {
    expect(basename(file)).toMatch(/^trunkline-\d+\.\d+\.\d+.*\.tgz$/);
  });
});

/** Where a server says in its log that it listens. */
async function addressOf(server: ChildProcess): Promise<string> {
  let output = '';
  for await (const piece of server.stdout ?? []) {
    output += String(piece);
    const [, url] = /"url":"(http[^"]+)"/.exec(output) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`the server ended: ${output}`);
}
