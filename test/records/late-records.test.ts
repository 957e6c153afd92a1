/** A disk that is full at the start: the records are opened when there is room, and have what was told meanwhile. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Feed } from '../../src/calls/feed/feed.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { CallUpkeep } from '../../src/records/call-upkeep.ts';
import { RECORDS_FILE } from '../../src/records/data-folder.ts';
import { type OpenedRecords, openInFolder, openRecords } from '../../src/records/open-records.ts';
import type { Records } from '../../src/records/records.ts';
import { openPeople } from '../../src/records/users/open-people.ts';
import { hashKey } from '../../src/records/users/secrets.ts';
import { TableUsers } from '../../src/records/users/users-table.ts';
import { addCall } from '../helpers/record-rows.ts';
import { said, started } from './told-calls.ts';

let folder: string;
let opened: OpenedRecords;
let metrics: Metrics;
const lines: string[] = [];
const log = createLog('info', { write: (line: string) => void lines.push(line) });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-late-'));
  metrics = new Metrics();
  lines.length = 0;
});
afterEach(async () => {
  await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

/** SQLite cannot make its log, as on a disk without room. */
const fill = () => mkdirSync(join(folder, `${RECORDS_FILE}-wal`), { recursive: true });
const makeRoom = () => rmdirSync(join(folder, `${RECORDS_FILE}-wal`));
const settings = () => readSettings({ DATA_DIR: folder, MODELS_DIR: 'none', RECORD: 'caller' });
const told = (text: string) => lines.filter((line) => line.includes(text)).length;

async function open(): Promise<Records> {
  opened = await openRecords({ settings: settings(), clock: systemClock, log, metrics });
  if (opened.records === null) throw new Error('expected records');
  return opened.records;
}

function follow(records: Records): Feed {
  const feed = new Feed({ history: 10, epoch: 'now' });
  records.follow(feed, { get: () => undefined, parameters: () => undefined });
  return feed;
}

it('keeps what is told in memory, tells that once, and stores it when there is room', async () => {
  fill();
  const records = await open();
  const { database, lists, calls, recorder } = records;
  const feed = follow(records);
  await records.recover(feed);
  feed.publish(started('CA1'));
  feed.publish(said('CA1', 1, 'said on a full disk'));
  const live = lists.list({ list: () => [], get: () => undefined }, { state: 'live' }, { after: null, limit: 10 });
  expect(await live).toEqual([]);
  await expect(calls.get('CA1')).rejects.toThrow('could not be opened yet');
  const failures = async () =>
    Number(
      / (\d+)$/.exec(await metrics.registry.getSingleMetricAsString('trunkline_records_open_failures_total'))?.[1],
    );
  await expect.poll(failures).toBeGreaterThan(1);
  expect([database.isOpen, recorder.lost, told('the records cannot be opened')]).toEqual([false, 0, 1]);
  makeRoom();
  await expect.poll(() => database.isOpen).toBe(true);
  await recorder.settled();
  expect((await calls.events('CA1', { limit: 10 })).map(({ event }) => event.type)).toEqual([
    'call.started',
    'caption',
  ]);
  expect(told('the records could be opened')).toBe(1);
});

it('ends the calls of a server that died, and knows sound and users, when there is room', async () => {
  mkdirSync(folder, { recursive: true });
  opened = await openRecords({ settings: settings(), clock: systemClock, log, metrics });
  const earlier = opened.records;
  if (earlier === null) throw new Error('expected records');
  await addCall(earlier.database.db, 1, ['before'], { state: 'live', ended_ms: null, end_reason: null });
  await addCall(earlier.database.db, 2, [], { sound_bytes: 3000, message_bytes: 1000 });
  const users = await TableUsers.open(earlier.database.db, folder);
  await users.add({ name: 'ann', kind: 'key', role: 'admin', agent: null, secret: hashKey('k'), createdMs: 1 });
  await opened.close();

  fill();
  const records = await open();
  const people = await openPeople(settings(), { clock: systemClock, log, records, mayHaveUsers: opened.mayHaveUsers });
  const feed = follow(records);
  await records.recover(feed);
  const sentences = { sentencesOf: () => [], forget: async () => 0 };
  const parts = { settings: settings(), clock: systemClock, log, metrics, sentences, sound: records.sound };
  const upkeep = new CallUpkeep({ ...parts, records, feed });
  upkeep.start();
  expect([people.areUnreadable, people.users?.list.size, records.sound?.bytes]).toEqual([true, 0, 0]);
  makeRoom();
  await records.database.opened;
  await expect.poll(() => people.areUnreadable).toBe(false);
  await expect.poll(async () => (await records.calls.get('CA1'))?.endReason).toBe('server_lost');
  await expect.poll(() => records.sound?.bytes).toBe(4000);
  expect(people.users?.list.all.map(({ name }) => name)).toEqual(['ann']);
  expect(told('old records could not be deleted')).toBe(0);
  await upkeep.close();
  people.close();
});

it('says so, and tries again, when what it can open at last is of a newer program', async () => {
  const database = await openInFolder(folder);
  await sql`create table migrations (name text, timestamp text)`.execute(database.db);
  await sql`insert into migrations values ('9999-later', '')`.execute(database.db);
  await database.close();
  fill();
  const records = await open();
  makeRoom();
  await expect.poll(() => told('mend this; what is told of calls waits')).toBe(1);
  expect(lines.join('')).toContain('9999-later');
  expect(records.database.isOpen).toBe(false);
});

it('ends while it waits, and leaves nothing open', async () => {
  fill();
  const records = await open();
  follow(records);
  await opened.close();
  makeRoom();
  expect((await open()).database.isOpen).toBe(true);
  expect([records.database.isOpen, told('the records could be opened')]).toEqual([false, 0]);
});
