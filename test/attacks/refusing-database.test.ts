/** A PostgreSQL server that is there and refuses, while callers talk, and callers whose names it refuses. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { toneSpeech } from '../helpers/tones.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
const WORDS = 3;
/** Waits between two tries of the recorder have grown to some seconds by then. */
const LONG = { timeout: 40_000, interval: 100 };

describe.runIf(whyNoPostgres === '')(`a database that refuses${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  let gateway: GatewayProcess;
  let feed: FeedReader;
  let folder: string;
  let name: string;
  let url: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    postgres = await startPostgres();
    const made = new URL(await postgres.createDatabase());
    name = made.pathname.slice(1);
    await postgres.operate('CREATE ROLE bridge LOGIN', `ALTER DATABASE ${name} OWNER TO bridge`);
    made.username = 'bridge';
    url = made.href;
    gateway = await startGateway({ ...PRETEND, DATABASE_URL: url, DATA_DIR: join(folder, 'data') });
    feed = await readFeed(gateway.url);
  });
  afterAll(async () => {
    feed.close();
    await gateway.stop('SIGKILL');
    await postgres.remove();
    rmSync(folder, { recursive: true });
  });

  const breakConnections = () =>
    postgres.operate(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bridge'`);

  async function ready(): Promise<string> {
    const answer = await fetch(`${gateway.url}/ready`);
    const { reasons = [] } = (await answer.json()) as { reasons?: readonly string[] };
    return `${answer.status} ${reasons.join()}`;
  }

  async function call(callSid: string): Promise<void> {
    const media = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
    const inbound = toneSpeech(WORDS, 400).filter((_, index) => index % 2 === 0);
    const parameters = { agent: 'a\0da', from: '\ud83d', to: '\0', note: 'n\0' };
    await new TwilioCaller({
      url: media,
      callSid,
      tracks: { inbound },
      pace: 'fast',
      clock: systemClock,
      parameters,
    }).run();
    await feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
  }

  const backlog = async (): Promise<number> => metricValue(await gateway.metrics(), 'trunkline_records_backlog');

  async function storedFinals(callId: string): Promise<number> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ finals: number }>(
      `SELECT count(*)::int AS finals FROM events JOIN calls ON seq = call_seq
       WHERE id = $1 AND state = 'ended' AND end_reason = 'hangup' AND type = 'caption'`,
      [callId],
    );
    await client.end();
    return rows[0]?.finals ?? 0;
  }

  it('has nothing of what is said lost, says why, and stores all of it', { timeout: 180_000 }, async () => {
    await postgres.operate('ALTER ROLE bridge NOLOGIN');
    await breakConnections();
    await call('CA-login');
    await expect.poll(ready, LONG).toMatch(/^503 .*it refuses the login/);
    await postgres.operate('ALTER ROLE bridge LOGIN');
    await expect.poll(ready, LONG).toBe('200 ');

    await breakConnections();
    await postgres.operate(`ALTER DATABASE ${name} RENAME TO kept`, `CREATE DATABASE ${name} OWNER bridge`);
    await call('CA-empty');
    await expect.poll(ready, LONG).toMatch(/^503 .*its tables are missing/);
    await postgres.operate(`DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE kept RENAME TO ${name}`);
    await expect.poll(ready, LONG).toBe('200 ');

    await expect.poll(backlog, LONG).toBe(0);
    for (const id of ['CA-login', 'CA-empty']) {
      expect(feed.finals(id).length).toBe(WORDS);
      expect(await storedFinals(id)).toBe(WORDS);
    }
    const page = await gateway.metrics();
    expect(page).not.toMatch(/^trunkline_records_lost_total\{.*\} [1-9]/m);
    const found = await fetch(`${gateway.url}/v1/calls?agent=a%00da`);
    expect(((await found.json()) as { data: readonly unknown[] }).data).toHaveLength(2);
    expect((await fetch(`${gateway.url}/v1/calls?tag=%00`)).status).toBe(200);
  });
});
