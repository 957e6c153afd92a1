/** Copies of the records lose what is deleted, and are whole all the while. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Feed } from '../../src/calls/feed/feed.ts';
import { nativeSqlite } from '../../src/foundation/database/native-sqlite.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { CallUpkeep } from '../../src/records/call-upkeep.ts';
import { migrate } from '../../src/records/migrations/migrations.ts';
import { openInFolder } from '../../src/records/open-records.ts';
import { Records } from '../../src/records/records.ts';
import { makeBackup } from '../../src/records/sqlite-backups.ts';
import { openSqliteRecords } from '../../src/records/sqlite-records.ts';
import { FakeClock } from '../fakes/clock.ts';
import { KEPT_AS_IT_IS } from '../helpers/kept-as-it-is.ts';
import { addCall } from '../helpers/record-rows.ts';

const DAY_MS = 86_400_000;

let folder: string;
let clock: FakeClock;
let records: Records;
let upkeep: CallUpkeep;
const lines: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-copies-'));
  clock = new FakeClock();
  lines.length = 0;
  await open();
});
afterEach(async () => {
  await records.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(): Promise<void> {
  const database = await openInFolder(folder);
  await migrate(database.db, 'sqlite');
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const metrics = new Metrics();
  records = new Records({ ...KEPT_AS_IT_IS, database, folder, clock, log, metrics });
  const sentences = { sentencesOf: () => [], forget: async () => 0 };
  const feed = new Feed({ history: 10, epoch: 'now' });
  upkeep = new CallUpkeep({ records, feed, sentences, sound: null, settings: readSettings({}), clock, log, metrics });
}

const startedMs = (seq: number) => clock.wall().getTime() - (100 - seq) * 1000;
const add = (seq: number, text: string) =>
  addCall(records.database.db, seq, [text, `${text} again`], {
    started_ms: startedMs(seq),
    ended_ms: clock.wall().getTime(),
  });
const backup = (minutes: number) =>
  makeBackup(records.database, { folder, why: 'request', now: new Date(clock.wall().getTime() + minutes * 60_000) });
const remove = async (seq: number) => {
  await records.database.db.updateTable('calls').set({ state: 'ended' }).where('seq', '=', seq).execute();
  await upkeep.removal.remove({ id: `CA${seq}`, seq, startedMs: startedMs(seq), leavesCopies: true });
  await upkeep.removal.finish();
};
const cleaned = async () => {
  await records.audit.flush();
  return (await records.audit.list({ action: 'copies.cleaned' }, 10)).map(({ detail }) => detail);
};
const holds = (path: string, word: string) => readFileSync(path, 'latin1').toLowerCase().includes(word);
const marks = async () =>
  (await records.database.db.selectFrom('meta').select('name').execute()).map(({ name }) => name);

async function textsIn(path: string): Promise<string[]> {
  const copy = await openSqliteRecords(path);
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(copy.db);
  expect(rows).toEqual([{ integrity_check: 'ok' }]);
  await sql`insert into texts_index (texts_index) values ('integrity-check')`.execute(copy.db);
  const texts = await copy.db.selectFrom('texts').select('text').orderBy('id').execute();
  await copy.close();
  return texts.map(({ text }) => text);
}

it('a deleted call leaves every copy that has it, word by word, and the others are not touched', async () => {
  const before = await backup(-10);
  await add(1, 'xylophone');
  await add(2, 'mandoline');
  const copies = [await backup(1), await backup(2)];
  const untouched = readFileSync(before);
  await remove(1);
  expect(copies.map((copy) => holds(copy, 'xylophone'))).toEqual([true, true]);
  await records.copies?.clean();
  for (const copy of copies) {
    expect(holds(copy, 'xylophone'), copy).toBe(false);
    expect(await textsIn(copy)).toEqual(['mandoline', 'mandoline again']);
  }
  expect(readFileSync(before).equals(untouched)).toBe(true);
  expect(await cleaned()).toEqual([{ copies: 2, calls: 1 }]);
  expect(await marks()).toEqual([]);
  expect(readdirSync(join(folder, 'backups')).length).toBe(3);
});

it('a later call of the same id stays in the copies that have it', async () => {
  await add(1, 'xylophone');
  await remove(1);
  await add(1, 'mandoline');
  await records.database.db
    .updateTable('calls')
    .set({ started_ms: startedMs(50) })
    .execute();
  const copy = await backup(1);
  await records.copies?.clean();
  expect(await textsIn(copy)).toEqual(['mandoline', 'mandoline again']);
});

it('what a restart cuts off is done by the next start, which removes unfinished drafts', async () => {
  await add(1, 'xylophone');
  const copy = await backup(1);
  await remove(1);
  await records.close();
  writeFileSync(`${copy}.part`, 'half of it');
  mkdirSync(`${copy}.part.lock`);
  await open();
  upkeep.start();
  await expect.poll(async () => (await cleaned()).length).toBe(1);
  expect([holds(copy, 'xylophone'), existsSync(`${copy}.part`), existsSync(`${copy}.part.lock`)]).toEqual([
    false,
    false,
    false,
  ]);
  await upkeep.close();
});

it('a copy that cannot be opened is told, keeps nothing else from being done, and is tried again', async () => {
  await add(1, 'xylophone');
  const [broken, copy] = [await backup(1), await backup(2)];
  const whole = readFileSync(broken);
  writeFileSync(broken, 'no database, but long enough to look like one. '.repeat(99));
  await remove(1);
  await records.copies?.clean();
  expect(holds(copy, 'xylophone')).toBe(false);
  expect(lines.filter((line) => line.includes('are still in copies'))).toHaveLength(1);
  expect(await marks()).toEqual(['deleted:CA1']);
  writeFileSync(broken, whole);
  await records.copies?.cleanDaily();
  expect(holds(broken, 'xylophone')).toBe(true);
  clock.advance(3_600_000);
  await records.copies?.cleanDaily();
  expect([holds(broken, 'xylophone'), await marks()]).toEqual([false, []]);
});

it('calls past their own time leave the copies within a day; ones past RETENTION_DAYS go with the copy', async () => {
  await add(1, 'xylophone');
  await add(2, 'mandoline');
  await add(3, 'zeppelin');
  const { db } = records.database;
  const now = clock.wall().getTime();
  await db
    .updateTable('calls')
    .set({ keep_until_ms: now + DAY_MS })
    .where('seq', '=', 1)
    .execute();
  await db
    .updateTable('calls')
    .set({ ended_ms: now - 29.5 * DAY_MS })
    .where('seq', '=', 2)
    .execute();
  const copy = await backup(1);
  upkeep.start();
  let hours = 0;
  const isGoneAfterAnHour = (): boolean => {
    clock.advance(3_600_000);
    hours++;
    return !holds(copy, 'xylophone');
  };
  await expect.poll(isGoneAfterAnHour, { interval: 50 }).toBe(true);
  expect(hours).toBeGreaterThan(24);
  expect(await textsIn(copy)).toEqual(['mandoline', 'mandoline again', 'zeppelin', 'zeppelin again']);
  const left = await db.selectFrom('calls').select('id').execute();
  expect(left).toEqual([{ id: 'CA3' }]);
  await upkeep.close();
});

it('no copy is made while calls are taken out of them', async () => {
  await add(1, 'xylophone');
  const making = records.copies?.make();
  await remove(1);
  await records.copies?.clean();
  expect(holds((await making) ?? '', 'xylophone')).toBe(false);
});

it.runIf(nativeSqlite() !== null)('leaves the records locked for other programs', async () => {
  const look = "new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('SELECT * FROM meta')";
  await add(1, 'xylophone');
  await backup(0);
  await add(2, 'zither');
  const path = join(folder, 'records', 'records.sqlite');
  expect(spawnSync(process.execPath, ['-e', look, path], { encoding: 'utf8' }).stderr).toContain('database is locked');
});
