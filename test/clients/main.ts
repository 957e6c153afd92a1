/**
 * `npm run clients`: installs clients of other services, unchanged, and runs each against a real gateway. What they see
 * is compared with goldens; `--write` keeps the result as docs/internals/clients.md. `--only <name>` takes those whose
 * name begins so, and with `--write` renews their rows; `--folder` keeps what was installed for the next run.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { startBrain } from './brain.ts';
import type { Client } from './client.ts';
import { CLIENTS } from './clients.ts';
import { differences, mayBeLoad } from './golden.ts';
import { type InstalledClient, installClient } from './install.ts';
import { type ClientResult, clientsPage, renewedPage } from './page.ts';

/** Sent by every client; one that may be a subprotocol. */
const KEY = 'clients-key-of-32-characters-000';
const RUN_TIMEOUT_MS = 120_000;
const OUTPUT_MAX_BYTES = 16_777_216;
const ERROR_SHOWN_CHARS = 2000;

interface Ran {
  readonly seen: unknown;
  readonly errors: string;
}

interface RunOptions {
  readonly client: Client;
  readonly gateway: GatewayProcess;
  readonly folder: string;
  readonly installed: InstalledClient;
  /** What Node and Python are told of our certificate. */
  readonly trust: Readonly<Record<string, string>>;
}

async function runClient({ client, gateway, folder, installed, trust }: RunOptions): Promise<Ran> {
  const { command, path, environment } = installed;
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TRUNKLINE_URL: gateway.url,
    TRUNKLINE_KEY: KEY,
    AUDIO_DIR: packagePath('fixtures', 'audio'),
    ...environment,
    ...client.environment,
    ...trust,
  };
  return new Promise((done) => {
    const options = { env, timeout: RUN_TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES };
    execFile(command, [path], options, (error, stdout, stderr) => {
      const line = stdout.trim().split('\n').at(-1) ?? '';
      done({ seen: readJson(line), errors: `${error === null ? '' : `${error.message}\n`}${stderr}` });
    });
  });
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function goldenOf({ name }: Client): unknown {
  return readJson(readFileSync(packagePath('test', 'clients', 'goldens', `${name}.json`), 'utf8'));
}

/** Once more, where what it saw lacks nothing but what a busy machine may leave out. */
async function tryClient(client: Client, folder: string): Promise<ClientResult> {
  const result = await tryOnce(client, folder);
  if (result.outcome !== 'fails' || !result.wrong.every(mayBeLoad)) return result;
  console.log(`again  ${client.name}  ${result.wrong.join('; ')}`);
  return tryOnce(client, folder);
}

/** One gateway for each client: what one leaves behind is no other's. */
async function tryOnce(client: Client, folder: string): Promise<ClientResult> {
  let installed: InstalledClient;
  try {
    installed = await installClient(client, folder);
  } catch (error) {
    return { client, outcome: 'not run', wrong: [messageOf(error)] };
  }
  const files = client.tls === true ? makeCertificate(folder, 'gateway') : null;
  const tls = files === null ? {} : { TLS_CERT: files.cert, TLS_KEY: files.key };
  const trust = files === null ? {} : { NODE_EXTRA_CA_CERTS: files.cert, SSL_CERT_FILE: files.cert };
  const brain = client.brain === true ? await startBrain() : null;
  const settings = brain === null ? {} : { LLM_BASE_URL: brain.url, LLM_MODEL: 'any' };
  const gateway = await startGateway({ API_KEYS: KEY, ENGINE_WORKERS: '1', ...tls, ...settings });
  try {
    const { seen, errors } = await runClient({ client, gateway, folder, installed, trust });
    const wrong = differences(seen, goldenOf(client));
    if (wrong.length > 0) console.log(`${errors.slice(-ERROR_SHOWN_CHARS)}\n${JSON.stringify(seen)}`);
    return { client, outcome: wrong.length === 0 ? 'works' : 'fails', wrong };
  } catch (error) {
    return { client, outcome: 'fails', wrong: [messageOf(error)] };
  } finally {
    await gateway.stop();
    brain?.close();
  }
}

function writePage(results: readonly ClientResult[], isWhole: boolean): void {
  const path = packagePath('docs', 'internals', 'clients.md');
  writeFileSync(path, isWhole ? clientsPage(results) : renewedPage(readFileSync(path, 'utf8'), results));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, folder: { type: 'string' }, write: { type: 'boolean', default: false } },
  });
  const { only = '', write } = values;
  const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'clients-')) : resolve(values.folder);
  mkdirSync(folder, { recursive: true });
  const results: ClientResult[] = [];
  try {
    for (const client of CLIENTS.filter(({ name }) => name.startsWith(only))) {
      const result = await tryClient(client, folder);
      results.push(result);
      console.log(`${result.outcome}  ${client.name}  ${result.wrong.join('; ')}`);
    }
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
  if (results.length === 0) throw new Error(`no client's name begins with ${JSON.stringify(only)}`);
  if (write) writePage(results, only === '');
  if (results.some(({ outcome }) => outcome !== 'works')) process.exitCode = 1;
}

await main();
