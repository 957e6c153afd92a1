/** Gateways that keep records: killed in the middle of calls, started again, and looked at by `trunkline db`. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { openInFolder } from '../../src/records/open-records.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { runBuiltCli } from '../helpers/cli.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { recording } from './understanding.ts';

const CALLS = 20;
const RATE_HZ = 8000;
const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', ENGINE_WORKERS: '1' };
/** What a reader saw this long before the kill must be in the record. */
const STORED_WITHIN_MS = 200;

let folder: string;
let gateway: GatewayProcess | undefined;
let postgres: TestPostgres | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'records-'));
});
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  await postgres?.remove();
  gateway = undefined;
  postgres = undefined;
  rmSync(folder, { recursive: true });
});

/** Kills the gateway in the middle of calls. Resolves with what its reader had seen 200 ms before. */
async function killInCalls(running: GatewayProcess, name: string, afterMs: number): Promise<readonly FeedEvent[]> {
  const feed = await readFeed(running.url);
  const url = `${running.url.replace(/^http/, 'ws')}/twilio/media`;
  const inbound = recording('long-speech').subarray(0, 30 * RATE_HZ);
  const calls = Array.from({ length: CALLS }, (_, i) =>
    placeCall({ url, tracks: { inbound }, pace: 'realtime', clock: systemClock, callSid: `CA${name}${i}` }).catch(
      () => undefined,
    ),
  );
  await expect.poll(() => feed.events.filter(({ type }) => type === 'call.started').length).toBe(CALLS);
  await sleep(systemClock, afterMs);
  const seen = feed.events.slice();
  await sleep(systemClock, STORED_WITHIN_MS);
  await running.stop('SIGKILL');
  feed.close();
  await Promise.all(calls);
  return seen.filter(isStored);
}

function isStored(event: FeedEvent): boolean {
  return !event.type.startsWith('speech.') && (event.type !== 'caption' || event.final);
}

async function checkRestart(environment: Record<string, string>): Promise<void> {
  gateway = await startGateway({ ...PRETEND, ...environment });
  const seen = await killInCalls(gateway, 'a', 4000);
  gateway = await startGateway({ ...PRETEND, ...environment });
  expect(seen.length).toBeGreaterThanOrEqual(CALLS);
  for (let i = 0; i < CALLS; i++) {
    const call = (await (await fetch(`${gateway.url}/v1/calls/CAa${i}`)).json()) as Record<string, unknown>;
    expect(call).toMatchObject({ state: 'ended', endReason: 'server_lost' });
  }
}

describe('records', () => {
  it('have what readers saw before the gateway was killed, and the next start ends its calls', async () => {
    const DATA_DIR = join(folder, 'data');
    gateway = await startGateway({ ...PRETEND, DATA_DIR });
    const seen = await killInCalls(gateway, 'a', 4000);
    gateway = await startGateway({ ...PRETEND, DATA_DIR });
    expect(gateway.logLines).toContainEqual(expect.objectContaining({ level: 40, calls: CALLS }));
    expect(await gateway.stop()).toBe(0);
    gateway = undefined;

    const database = await openInFolder(DATA_DIR);
    const rows = await database.db.selectFrom('events').select('content').execute();
    const stored = new Set(rows.map(({ content }) => content));
    expect(seen.length).toBeGreaterThanOrEqual(CALLS);
    expect(seen.filter((event) => !stored.has(JSON.stringify(event)))).toEqual([]);
    const calls = await database.db.selectFrom('calls').selectAll().execute();
    expect(calls).toHaveLength(CALLS);
    expect(new Set(calls.map(({ state, end_reason }) => `${state} ${end_reason}`))).toEqual(
      new Set(['ended server_lost']),
    );
    await database.close();
  });

  it.runIf(whyNoPostgres === '')(`are in PostgreSQL if that is set${whyNoPostgres}`, async () => {
    postgres = await startPostgres();
    await checkRestart({ DATABASE_URL: await postgres.createDatabase() });
  });

  it('are looked at and copied through the server that uses them, and without one when none does', async () => {
    const DATA_DIR = join(folder, 'data');
    gateway = await startGateway({ ...PRETEND, DATA_DIR });
    const { port } = new URL(gateway.url);
    const db = (...words: string[]) => runBuiltCli(['db', ...words], { DATA_DIR, PORT: port });
    expect(await db('status')).toMatchObject({ code: 0, out: expect.stringContaining(`asked the server at`) });
    const copied = JSON.parse((await db('backup', '--json')).out) as { path: string };
    expect(existsSync(copied.path)).toBe(true);
    expect((await db('migrate', '--dry-run')).out).toBe('Nothing to migrate.\n');
    expect(await gateway.stop()).toBe(0);
    gateway = undefined;
    const status = await db('status', '--json');
    expect(JSON.parse(status.out)).toMatchObject({ kind: 'sqlite', calls: 0, pending: [] });
    expect((await db('migrate')).out).toBe('Nothing to migrate.\n');
    expect((await runBuiltCli(['db', 'status'], { DATA_DIR: 'none' })).err).toContain('nothing is kept of calls');
  });
});
