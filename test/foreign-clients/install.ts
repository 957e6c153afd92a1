/** Installs clients as their users do, into a folder of its own: nothing of them gets into the repository. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import type { Client } from './client.ts';

const execute = promisify(execFile);
const INSTALL_TIMEOUT_MS = 600_000;
const OUTPUT_MAX_BYTES = 16_777_216;

/** The program of a client and what runs it. */
export interface InstalledClient {
  readonly command: string;
  /** '' = `command` is the program itself. */
  readonly path: string;
  /** Beside those of every client. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Installs `client` under `folder`, unless its packages are there.
 * @throws what npm or pip says
 */
export async function installClient(client: Client, folder: string): Promise<InstalledClient> {
  // Clients of the same packages share them.
  const own = join(folder, client.install.join('+').replace(/[^\w.+-]/g, '-'));
  const isPython = client.program.endsWith('.py');
  if (client.program.endsWith('.go')) return buildGo(client, own);
  if (!existsSync(own)) await (isPython ? installPython(client, own) : installNode(client, own));
  // The program's imports are looked for beside it.
  const path = join(own, client.program);
  copyFileSync(packagePath('test', 'foreign-clients', client.program), path);
  if (isPython) return { command: join(own, 'bin', 'python'), path, environment: { PYTHONUNBUFFERED: '1' } };
  return { command: process.execPath, path, environment: { CLIENT: 'client' } };
}

/** Under the name `client`, whatever its own is. */
async function installNode({ install: [first, ...others] }: Client, own: string): Promise<void> {
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'package.json'), JSON.stringify({ name: 'clients', private: true, type: 'module' }));
  const packages = [`client@npm:${first}`, ...others];
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await execute('npm', ['install', ...options, ...packages], {
    cwd: own,
    timeout: INSTALL_TIMEOUT_MS,
    maxBuffer: OUTPUT_MAX_BYTES,
  });
}

async function installPython({ install, python = 'python3' }: Client, own: string): Promise<void> {
  const options = { timeout: INSTALL_TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES };
  await execute(python, ['-m', 'venv', own], options);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await execute(join(own, 'bin', 'python'), [...pip, ...install], options);
}

/** A module of its own with the program of `client`, which is built there. */
async function buildGo({ install: [module], program }: Client, own: string): Promise<InstalledClient> {
  const options = { cwd: own, timeout: INSTALL_TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES };
  if (!existsSync(join(own, 'go.mod'))) {
    mkdirSync(own, { recursive: true });
    await execute('go', ['mod', 'init', 'client'], options);
    await execute('go', ['get', module], options);
  }
  copyFileSync(packagePath('test', 'foreign-clients', program), join(own, 'main.go'));
  await execute('go', ['build', '-mod=mod', '-o', 'client-program', '.'], options);
  return { command: join(own, 'client-program'), path: '', environment: {} };
}
