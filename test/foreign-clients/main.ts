/**
 * `npm run clients`: installs clients of other services, unchanged, and runs each against a real gateway. What they see
 * is compared with goldens; `--write` keeps the result as docs/internals/clients.md. `--only <name>` takes those whose
 * name begins so, and with `--write` renews their rows; `--folder` keeps what was installed for the next run.
 * `--deletions` shows for fields that clients cannot do without that they fail where one of them is missing.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import { startGateway } from '../helpers/gateway.ts';
import { startBrain } from './brain.ts';
import type { Client } from './client.ts';
import { CLIENTS } from './clients.ts';
import { tryDeletions } from './deletions.ts';
import { differences, mayBeLoad } from './golden.ts';
import { type InstalledClient, installClient } from './install.ts';
import { type ClientResult, clientsPage, pageWithDeletions, renewedPage } from './page.ts';
import { goldenOf, KEY, runClient } from './run.ts';

const RUN_TIMEOUT_MS = 120_000;
const ERROR_SHOWN_CHARS = 2000;

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
    const run = { client, url: gateway.url, folder, installed, trust, timeoutMs: RUN_TIMEOUT_MS };
    const { seen, errors } = await runClient(run);
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

function writePage(written: (page: string) => string): void {
  const path = packagePath('docs', 'internals', 'clients.md');
  writeFileSync(path, written(readFileSync(path, 'utf8')));
}

async function tryClients(only: string, folder: string): Promise<ClientResult[]> {
  const results: ClientResult[] = [];
  for (const client of CLIENTS.filter(({ name }) => name.startsWith(only))) {
    const result = await tryClient(client, folder);
    results.push(result);
    console.log(`${result.outcome}  ${client.name}  ${result.wrong.join('; ')}`);
  }
  if (results.length === 0) throw new Error(`no client's name begins with ${JSON.stringify(only)}`);
  return results;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { only: text, folder: text, write: flag, deletions: flag } });
  const { only = '', write } = values;
  const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'clients-')) : resolve(values.folder);
  mkdirSync(folder, { recursive: true });
  try {
    if (values.deletions) {
      const results = await tryDeletions(only, folder);
      if (write) writePage((page) => pageWithDeletions(page, results));
      if (results.some(({ wrong }) => wrong !== '')) process.exitCode = 1;
      return;
    }
    const results = await tryClients(only, folder);
    if (write) writePage((page) => (only === '' ? clientsPage(results, page) : renewedPage(page, results)));
    if (results.some(({ outcome }) => outcome !== 'works')) process.exitCode = 1;
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

await main();
