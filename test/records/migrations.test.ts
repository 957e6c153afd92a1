import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { RECORDS_FILE } from '../../src/records/data-folder.ts';
import { migrate, readSchemaState } from '../../src/records/migrations/migrations.ts';
import { STEPS } from '../../src/records/migrations/steps.ts';
import { type OpenedRecords, openInFolder, openRecords } from '../../src/records/open-records.ts';
import { makeBackup } from '../../src/records/sqlite-backups.ts';
import { openSqliteRecords } from '../../src/records/sqlite-records.ts';
import { hashKey } from '../../src/records/users/secrets.ts';
import { TableUsers } from '../../src/records/users/users-table.ts';
import { callRow, tagRow } from '../helpers/record-rows.ts';
import { DATABASES } from './databases.ts';
import { openToldGateway, said, started } from './told-calls.ts';

describe.each(DATABASES)('the schema in $name', ({ isThere, start }) => {
  const databases = start();
  afterAll(() => databases.end());

  it.runIf(isThere)('is brought up once, and is known after that', async () => {
    const { db, kind } = await databases.open();
    expect(await readSchemaState(db)).toMatchObject({ pending: [] });
    await Promise.all([migrate(db, kind), migrate(db, kind)]);
    expect((await readSchemaState(db)).applied.at(-1)).toBe(Object.keys(STEPS).at(-1));
  });

  it.runIf(isThere)(
    'of before the planned search keeps its calls, and they are found by their length and tags',
    async () => {
      const { db, kind } = await databases.openAt('0005-messages');
      const row = callRow(1, { duration_ms: 7000, inbound_name: 'Ann', flow: 'shop' });
      const { length_ms: _length, sip_status: _status, sip_reason: _reason, ...old } = row;
      await db.insertInto('calls').values(old).execute();
      await sql`insert into call_tags (call_seq, tag) values (1, 'vip')`.execute(db);
      await migrate(db, kind);
      const calls = await db.selectFrom('calls').select(['seq', 'length_ms', 'inbound_name']).execute();
      expect(calls).toEqual([{ seq: 1, length_ms: 7000, inbound_name: 'Ann' }]);
      expect(await db.selectFrom('call_tags').selectAll().execute()).toEqual([tagRow(1, 'vip')]);
      await db.updateTable('calls').set({ started_ms: 9 }).execute();
      expect(await db.selectFrom('call_tags').select('started_ms').execute()).toEqual([{ started_ms: 9 }]);
      await db.deleteFrom('calls').execute();
    },
  );

  it.runIf(isThere)('of a newer program is refused, and both versions are named', async () => {
    const { db } = await databases.open();
    await sql`insert into migrations (name, timestamp) values ('9999-later', '2026')`.execute(db);
    await expect(readSchemaState(db)).rejects.toThrow(/newer Trunkline: they have 9999-later.*up to 0/);
  });
});

describe('a data folder', () => {
  let folder: string;
  const opened: OpenedRecords[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-data-'));
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(environment: Record<string, string>, lines: string[] = []): Promise<OpenedRecords> {
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    const one = await openRecords({
      settings: readSettings({ MODELS_DIR: 'none', ...environment }),
      clock: systemClock,
      log,
      metrics: new Metrics(),
    });
    opened.push(one);
    return one;
  }

  it('has the records and what else is kept, closed to others, and says where and for how long', async () => {
    const lines: string[] = [];
    const path = join(folder, 'data');
    const { records, settings } = await open({ DATA_DIR: path, RETENTION_DAYS: '7', BATCH_DIR: '/elsewhere' }, lines);
    expect(records?.database.kind).toBe('sqlite');
    expect(settings).toMatchObject({
      BATCH_DIR: '/elsewhere',
      PROMPT_CACHE_DIR: join(path, 'prompts'),
      UPLOAD_DIR: join(path, 'uploads'),
    });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ retentionDays: 7, place: join(path, 'records/records.sqlite') });
    for (const name of ['', 'records', 'records/records.sqlite', 'records/records.sqlite-wal'])
      expect(statSync(join(path, name)).mode & 0o077, name).toBe(0);
  });

  it('that is none keeps nothing, and leaves the settings as they are', async () => {
    const { records, settings } = await open({ DATA_DIR: 'none' });
    expect(records).toBeNull();
    expect(settings).toMatchObject({ BATCH_DIR: '', PROMPT_CACHE_DIR: '', UPLOAD_DIR: '' });
  });

  it('that was set and cannot be used ends the start; a default one is told, and nothing is kept', async () => {
    writeFileSync(join(folder, 'file'), '');
    const path = join(folder, 'file', 'trunkline');
    await expect(open({ DATA_DIR: path })).rejects.toThrow(/^DATA_DIR: got ".*", expected a folder .*ENOTDIR/);
    const lines: string[] = [];
    const { records } = await open({ XDG_STATE_HOME: join(folder, 'file') }, lines);
    expect(records).toBeNull();
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, msg: expect.stringMatching(/^nothing is kept/) });
  });

  it('whose records are no database names the file, and does not touch it', async () => {
    const path = join(folder, 'data');
    await (await open({ DATA_DIR: path })).close();
    writeFileSync(
      join(path, 'records/records.sqlite'),
      'no database at all, but long enough to be read as one'.repeat(99),
    );
    await expect(open({ DATA_DIR: path })).rejects.toThrow(/^DATA_DIR: the records .* not a database.*move/);
  });

  it.each([
    ['users', true],
    ['no users', false],
  ])('that had %s and cannot be opened says so', async (_what, has) => {
    const DATA_DIR = join(folder, 'data');
    const first = await open({ DATA_DIR });
    if (first.records === null) throw new Error('expected records');
    const users = await TableUsers.open(first.records.database.db, DATA_DIR);
    const secret = hashKey('k');
    if (has) await users.add({ name: 'ann', kind: 'key', role: 'admin', agent: null, secret, createdMs: 1 });
    expect(first.mayHaveUsers).toBe(false);
    await first.close();
    mkdirSync(join(DATA_DIR, `${RECORDS_FILE}-wal`));
    expect(await open({ DATA_DIR })).toMatchObject({ records: { database: { isOpen: false } }, mayHaveUsers: has });
  });

  it('is copied before its schema changes; of such copies the latest two stay', async () => {
    const path = join(folder, 'data');
    await (await open({ DATA_DIR: path })).close();
    for (let version = 0; version < 3; version++) {
      const database = await openInFolder(path);
      // As if an earlier program had made all but the last step.
      await sql`delete from migrations where name <> '0001-records'`.execute(database.db);
      const copy = await makeBackup(database, { folder: path, why: 'migration', now: new Date(version) });
      expect(statSync(copy).mode & 0o077).toBe(0);
      await database.close();
    }
    expect(readdirSync(join(path, 'backups')).toSorted()).toEqual([
      'records-19700101T000000001Z-migration.sqlite',
      'records-19700101T000000002Z-migration.sqlite',
    ]);
  });

  it('is copied while calls go on: the copy is whole and has what was stored before', async () => {
    const { records } = await open({ DATA_DIR: join(folder, 'data') });
    if (records === null) throw new Error('expected records');
    const { tell, feed } = openToldGateway(records.database);
    await tell(started('CA1'), ...Array.from({ length: 500 }, (_, i) => said('CA1', i + 1, `word ${i}`)));
    const copying = makeBackup(records.database, { folder, why: 'request', now: new Date() });
    for (let i = 501; i < 900; i++) feed.publish(said('CA1', i, `word ${i}`));
    const copy = await openSqliteRecords(await copying);
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(copy.db);
    expect(rows).toEqual([{ integrity_check: 'ok' }]);
    const counted = await copy.db
      .selectFrom('events')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirst();
    expect(counted?.n).toBeGreaterThanOrEqual(501);
    await copy.close();
    await tell();
  });
});
