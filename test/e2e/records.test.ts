/** Gateways that keep records: killed in the middle of calls, started again, and looked at by `trunkline db`. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { openInFolder } from '../../src/records/open-records.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { runBuiltCli } from '../helpers/cli.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { toneSpeech } from '../helpers/tones.ts';

const CALLS = 20;
const KILLS = 10;
const POSTGRES_KILLS = 3;
/** A word of a second every two seconds, at 8 kHz. */
const SAID = toneSpeech(30, 400).filter((_, i) => i % 2 === 0);
/** Calls do not say their words at the same moment. */
const STAGGER_SAMPLES = 400;
const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', ENGINE_WORKERS: '1' };
/** What a reader saw this long before the kill must be in the record. */
const STORED_WITHIN_MS = 200;
/** Later than this, the gateway itself says that its captions are late. */
const IN_TIME_MS = 1000;

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

interface Round {
  readonly number: number;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Starts a gateway and kills it in the middle of calls that speak. Resolves with what its reader had seen 200 ms
 * before.
 */
async function killInCalls({ number, environment }: Round): Promise<readonly FeedEvent[]> {
  const running = await startGateway({ ...PRETEND, ...environment });
  gateway = running;
  expect(running.logLines.filter(({ msg }) => String(msg).includes('server_lost'))).toEqual(
    number === 0 ? [] : [expect.objectContaining({ level: 40, calls: CALLS })],
  );
  const feed = await readFeed(running.url);
  const url = `${running.url.replace(/^http/, 'ws')}/twilio/media`;
  const calls = Array.from({ length: CALLS }, (_, i) =>
    placeCall({
      url,
      tracks: { inbound: SAID.subarray(i * STAGGER_SAMPLES) },
      pace: 'realtime',
      clock: systemClock,
      callSid: `CA${number}-${i}`,
    }).catch(() => undefined),
  );
  const finals = () => feed.events.filter((event) => event.type === 'caption' && event.final).length;
  await expect.poll(finals, { timeout: 20_000 }).toBeGreaterThanOrEqual(CALLS);
  // Each kill meets the writes, a tenth of a second apart, at another moment.
  await sleep(systemClock, (number * 37) % 100);
  const seen = feed.events.slice();
  await sleep(systemClock, STORED_WITHIN_MS + overloadMs(seen));
  await running.stop('SIGKILL');
  feed.close();
  await Promise.all(calls);
  expect(new Set(seen.map(({ callId }) => callId)).size).toBe(CALLS);
  return seen.filter(isStored);
}

/** How late captions came on a machine that does not keep up: then nothing is stored in time either; else 0. */
function overloadMs(seen: readonly FeedEvent[]): number {
  const lagsMs = seen.map((event) => (event.type === 'caption' && event.final ? event.lagMs : 0));
  const worstMs = Math.max(...lagsMs);
  return worstMs > IN_TIME_MS ? worstMs : 0;
}

function isStored(event: FeedEvent): boolean {
  return !event.type.startsWith('speech.') && (event.type !== 'caption' || event.final);
}

/** Kills so many gateways on the same records, one after the other, and starts a last one, which ends by itself. */
async function killAgainAndAgain(kills: number, environment: Readonly<Record<string, string>>): Promise<FeedEvent[]> {
  const seen: FeedEvent[] = [];
  for (let number = 0; number < kills; number++) seen.push(...(await killInCalls({ number, environment })));
  gateway = await startGateway({ ...PRETEND, ...environment });
  expect(await gateway.stop()).toBe(0);
  gateway = undefined;
  return seen;
}

async function expectAllKept({ db }: RecordsDatabase, kills: number, seen: readonly FeedEvent[]): Promise<void> {
  const rows = await db.selectFrom('events').select('content').execute();
  const stored = new Set(rows.map(({ content }) => content));
  expect(seen.filter((event) => !stored.has(JSON.stringify(event)))).toEqual([]);
  const calls = await db.selectFrom('calls').select(['state', 'end_reason']).execute();
  expect(calls).toHaveLength(kills * CALLS);
  expect(new Set(calls.map(({ state, end_reason }) => `${state} ${end_reason}`))).toEqual(
    new Set(['ended server_lost']),
  );
}

describe('records', () => {
  it(`have what readers saw before ${KILLS} gateways were killed in calls, which the next start ends`, async () => {
    const DATA_DIR = join(folder, 'data');
    const seen = await killAgainAndAgain(KILLS, { DATA_DIR });
    const database = await openInFolder(DATA_DIR);
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(database.db);
    expect(rows).toEqual([{ integrity_check: 'ok' }]);
    expect((await sql`pragma foreign_key_check`.execute(database.db)).rows).toEqual([]);
    await sql`insert into texts_index (texts_index) values ('integrity-check')`.execute(database.db);
    await expectAllKept(database, KILLS, seen);
    await database.close();
  }, 300_000);

  it.runIf(whyNoPostgres === '')(`have it in PostgreSQL if that is set${whyNoPostgres}`, async () => {
    postgres = await startPostgres();
    const DATABASE_URL = await postgres.createDatabase();
    const seen = await killAgainAndAgain(POSTGRES_KILLS, { DATABASE_URL });
    const database = await openPostgresRecords(DATABASE_URL, { clock: systemClock, log: createLog('silent') });
    await expectAllKept(database, POSTGRES_KILLS, seen);
    await database.close();
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
