/** A PostgreSQL server that is there and refuses: nothing that was said is lost. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { ended, openToldGateway, said, started, type ToldGateway } from './told-calls.ts';

const open = (url: string): Promise<RecordsDatabase> =>
  openPostgresRecords(url, { clock: systemClock, log: createLog('silent') });

describe.runIf(whyNoPostgres === '')(`a PostgreSQL server that refuses${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  let folder: string;
  let name: string;
  let url: string;
  let database: RecordsDatabase;
  let gateway: ToldGateway;
  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.operate('CREATE ROLE bridge LOGIN');
  });
  afterAll(() => postgres.remove());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-refused-'));
    const made = new URL(await postgres.createDatabase());
    name = made.pathname.slice(1);
    await postgres.operate(`ALTER DATABASE ${name} OWNER TO bridge`);
    url = made.href.replace('tester@', 'bridge@');
    database = await open(url);
    gateway = openToldGateway(database, { folder });
    await gateway.tell(started('CA1'), said('CA1', 1, 'before'));
  });
  afterEach(async () => {
    await gateway.records.close();
    rmSync(folder, { recursive: true });
  });

  const breakConnections = (of = name) =>
    postgres.operate(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${of}' AND pid <> pg_backend_pid()`,
    );

  /** Talk goes on until the recorder says why nothing can be stored. */
  async function talkUntil(reason: string, message: RegExp): Promise<void> {
    gateway.feed.publish(said('CA1', 2, 'meanwhile'));
    await expect.poll(() => gateway.records.recorder.trouble?.reason).toBe(reason);
    expect(gateway.records.recorder.trouble?.message).toMatch(message);
    gateway.feed.publish(said('CA1', 3, 'and on'));
    gateway.feed.publish(ended('CA1'));
  }

  async function expectAllStored(): Promise<void> {
    const { records } = gateway;
    await records.recorder.settled();
    expect(records.recorder.lost).toBe(0);
    expect(readdirSync(folder)).not.toContain('refused');
    const events = await records.calls.events('CA1', { limit: 100 });
    expect(events.map(({ event }) => event.type)).toEqual([
      'call.started',
      'caption',
      'caption',
      'caption',
      'call.ended',
    ]);
    expect(records.recorder.trouble).toBe(null);
  }

  it('the login loses nothing', async () => {
    await postgres.operate('ALTER ROLE bridge NOLOGIN');
    await breakConnections();
    await talkUntil('login', /it refuses the login: 28000/);
    await postgres.operate('ALTER ROLE bridge LOGIN');
    await expectAllStored();
  });

  it('further connections loses nothing', async () => {
    await postgres.operate('ALTER ROLE bridge CONNECTION LIMIT 0');
    await breakConnections();
    await talkUntil('connections', /it has no connection left: 53300/);
    await postgres.operate('ALTER ROLE bridge CONNECTION LIMIT -1');
    await expectAllStored();
  });

  it('a right loses nothing, also where only some events need it', async () => {
    await sql`REVOKE INSERT ON texts FROM bridge`.execute(database.db);
    await talkUntil('right', /no right to INSERT on texts/);
    await sql`GRANT INSERT ON texts TO bridge`.execute(database.db);
    await expectAllStored();
  });

  it('an empty database in its place gets nothing', async () => {
    await breakConnections();
    await postgres.operate(`ALTER DATABASE ${name} RENAME TO ${name}_kept`, `CREATE DATABASE ${name} OWNER bridge`);
    await talkUntil('tables', /its tables are missing or others: 42P01/);
    await breakConnections();
    await postgres.operate(`DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE ${name}_kept RENAME TO ${name}`);
    await expectAllStored();
  });

  it('is told from another installation, whose records stay as they are', async () => {
    const other = new URL(await postgres.createDatabase());
    const otherName = other.pathname.slice(1);
    await (await open(other.href)).close();
    await postgres.operate(`GRANT ALL ON DATABASE ${otherName} TO bridge`);
    await breakConnections();
    await postgres.operate(
      `ALTER DATABASE ${name} RENAME TO ${name}_kept`,
      `ALTER DATABASE ${otherName} RENAME TO ${name}`,
      'ALTER ROLE bridge SUPERUSER',
    );
    await talkUntil('other_database', /another installation's/);
    await breakConnections();
    await postgres.operate(
      `ALTER DATABASE ${name} RENAME TO ${otherName}`,
      `ALTER DATABASE ${name}_kept RENAME TO ${name}`,
      'ALTER ROLE bridge NOSUPERUSER',
    );
    await expectAllStored();
    const kept = await open(other.href);
    expect(await kept.db.selectFrom('calls').selectAll().execute()).toEqual([]);
    await kept.close();
  });

  it('one event alone goes to a private file, and is stored when it takes it', async () => {
    const { records, tell, metrics } = gateway;
    const { db } = database;
    await sql`CREATE INDEX too_wide ON texts (text)`.execute(db);
    await sql`ALTER TABLE calls ADD CONSTRAINT no_agent CHECK (agent <> 'nobody')`.execute(db);
    const long = Array.from({ length: 20_000 }, () => Math.random().toString(36).slice(2)).join(' ');
    await tell(said('CA1', 2, long), said('CA1', 3, 'after'));
    await tell(started('CA2', { agent: 'nobody' }), said('CA2', 1, 'unheard'), ended('CA2'));
    expect(records.recorder.lost).toBe(0);
    expect((await metrics.records.refused.get()).values[0]?.value).toBe(4);
    const kept = await records.refused?.report();
    expect(kept?.calls.toSorted((a, b) => a.callId.localeCompare(b.callId))).toEqual([
      { callId: 'CA1', events: 1, why: ['54000'] },
      { callId: 'CA2', events: 3, why: ['23514'] },
    ]);
    for (const file of readdirSync(join(folder, 'refused')))
      expect(statSync(join(folder, 'refused', file)).mode & 0o777).toBe(0o600);
    expect(await records.retryRefused()).toEqual({ stored: 0, left: 4 });
    await sql`DROP INDEX too_wide`.execute(db);
    await sql`ALTER TABLE calls DROP CONSTRAINT no_agent`.execute(db);
    expect(await records.retryRefused()).toEqual({ stored: 4, left: 0 });
    expect(await records.calls.get('CA2')).toMatchObject({ agent: 'nobody', state: 'ended', endReason: 'hangup' });
    const said1 = await records.calls.events('CA1', { limit: 100 });
    expect(said1.flatMap(({ event }) => (event.type === 'caption' ? [event.utterance] : []))).toEqual([1, 3, 2]);
    expect(await records.calls.events('CA2', { limit: 100 })).toHaveLength(3);
    expect(readdirSync(join(folder, 'refused'))).toEqual([]);
  });
});
