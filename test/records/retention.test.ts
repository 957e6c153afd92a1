import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { CallRemoval } from '../../src/records/deletion/call-removal.ts';
import { RetentionClock } from '../../src/records/retention/retention-clock.ts';
import { RetentionSweeper, type SoundShelf } from '../../src/records/retention/retention-sweeper.ts';
import { usedBytes } from '../../src/records/retention/used-bytes.ts';
import { removeBackupsBefore } from '../../src/records/sqlite-backups.ts';
import { FakeClock } from '../fakes/clock.ts';
import { addCall } from '../helpers/record-rows.ts';
import { readSettings } from '../helpers/settings.ts';
import { DATABASES } from './databases.ts';
import { openToldGateway, type ToldGateway } from './told-calls.ts';

const DAY_MS = 86_400_000;

/** Sound in memory, the oldest first. */
class FakeShelf implements SoundShelf {
  readonly kept: { callId: string; startedMs: number; bytes: number }[] = [];

  get bytes(): number {
    return this.kept.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async oldest() {
    return this.kept[0] ?? null;
  }

  async remove({ callId }: { callId: string }): Promise<number> {
    const index = this.kept.findIndex((sound) => sound.callId === callId);
    return index < 0 ? 0 : (this.kept.splice(index, 1)[0]?.bytes ?? 0);
  }
}

describe.each(DATABASES)('retention in $name', ({ isThere, start }) => {
  const databases = start();
  afterAll(() => databases.end());
  const run = it.runIf(isThere);

  let gateway: ToldGateway;
  let shelf: FakeShelf;
  const clock = new FakeClock();
  const recorder = { backlog: 0, isTroubled: false };
  beforeEach(async () => {
    if (!isThere) return;
    gateway = openToldGateway(await databases.open());
    shelf = new FakeShelf();
    Object.assign(recorder, { backlog: 0, isTroubled: false });
  });
  afterEach(async () => {
    await gateway?.records.close();
  });

  async function sweep(environment: Readonly<Record<string, string>>): Promise<string[]> {
    const { records, feed, metrics } = gateway;
    const { database, audit } = records;
    const sentences = { sentencesOf: () => [], forget: async () => 0 };
    const removal = new CallRemoval({
      database,
      search: records.lists.texts,
      feed,
      sound: shelf,
      sentences,
      copies: null,
      refused: null,
    });
    const settings = readSettings(environment);
    const log = createLog('silent');
    const time = new RetentionClock({ ...database, kind: 'sqlite' }, clock);
    const parts = {
      database,
      copies: null,
      refused: null,
      removal,
      audit,
      sound: shelf,
      recorder,
      settings,
      time,
      clock,
      log,
    };
    await new RetentionSweeper({ ...parts, metrics: metrics.records }).sweep();
    await audit.flush();
    const rows = await database.db.selectFrom('calls').select('id').orderBy('seq').execute();
    return rows.map(({ id }) => id);
  }

  const daysAgo = (days: number) => clock.wall().getTime() - days * DAY_MS;

  run('deletes what ended long ago or is past its own time, and nothing that goes on', async () => {
    const { db } = gateway.records.database;
    await addCall(db, 1, ['old'], { ended_ms: daysAgo(31) });
    await addCall(db, 2, ['young'], { ended_ms: daysAgo(29) });
    await addCall(db, 3, ['kept longer'], { ended_ms: daysAgo(31), keep_until_ms: daysAgo(-5) });
    await addCall(db, 4, ['kept shorter'], { ended_ms: daysAgo(2), keep_until_ms: daysAgo(1) });
    await addCall(db, 5, ['live'], { state: 'live', ended_ms: null, keep_until_ms: daysAgo(1) });
    expect(await sweep({ RETENTION_DAYS: '30' })).toEqual(['CA2', 'CA3', 'CA5']);
    expect(await gateway.records.audit.list({}, 10)).toMatchObject([
      { who: 'trunkline', action: 'calls.expired', detail: { reason: 'age', calls: 2 } },
    ]);
    expect(await sweep({ RETENTION_DAYS: '0' })).toEqual(['CA2', 'CA3', 'CA5']);
  });

  run('is at more than one handful of calls, and lets lines of the audit log go after their own time', async () => {
    const { records } = gateway;
    for (let seq = 1; seq <= 45; seq++) await addCall(records.database.db, seq, [], { ended_ms: daysAgo(40) });
    const line = { who: 'tom', role: 'admin', action: 'call.read', call_id: 'CA1', detail: '{}' };
    const lines = [daysAgo(366), daysAgo(364)].map((at_ms) => ({ ...line, at_ms }));
    await records.database.db.insertInto('audit').values(lines).execute();
    expect(await sweep({ SWEEP_MAX_PERCENT: '100' })).toEqual([]);
    expect((await records.audit.list({ who: 'tom' }, 10)).length).toBe(1);
  });

  run('does nothing while the records cannot be written', async () => {
    await addCall(gateway.records.database.db, 1, [], { ended_ms: daysAgo(40) });
    recorder.isTroubled = true;
    expect(await sweep({})).toEqual(['CA1']);
  });

  run('makes room: the oldest sound first', async () => {
    for (let seq = 1; seq <= 3; seq++) {
      await addCall(gateway.records.database.db, seq, [], { ended_ms: daysAgo(1) });
      shelf.kept.push({ callId: `CA${seq}`, startedMs: seq, bytes: 4_000_000 });
    }
    expect(await sweep({ DATA_MAX_BYTES: '6000000' })).toEqual(['CA1', 'CA2', 'CA3']);
    expect(shelf.kept.map(({ callId }) => callId)).toEqual(['CA3']);
    const [line] = await gateway.records.audit.list({}, 1);
    expect(line).toMatchObject({ detail: { reason: 'space', calls: 0, sounds: 2, soundBytes: 8_000_000 } });
  });
});

it('makes room in SQLite by the oldest calls, when there is no sound any more', async () => {
  const databases = DATABASES[0].start();
  const { records, feed, metrics } = openToldGateway(await databases.open());
  const textOf = (seq: number, n: number) => `words ${(seq * 7 + n) % 900} of a call, ${(seq * n * 31) % 5000} ${n}`;
  for (let seq = 1; seq <= 200; seq++)
    await addCall(
      records.database.db,
      seq,
      Array.from({ length: 20 }, (_, n) => textOf(seq, n)),
    );
  const { database, audit, recorder } = records;
  const sentences = { sentencesOf: () => [], forget: async () => 0 };
  const removal = new CallRemoval({
    database,
    search: records.lists.texts,
    feed,
    sound: null,
    sentences,
    copies: null,
    refused: null,
  });
  const settings = { ...readSettings({}), RETENTION_DAYS: 0, DATA_MAX_BYTES: 900_000 };
  const clock = new FakeClock();
  const time = new RetentionClock(database, clock);
  const parts = { database, copies: null, refused: null, removal, audit, sound: null, recorder, settings, time, clock };
  const sweeper = new RetentionSweeper({ ...parts, log: createLog('silent'), metrics: metrics.records });
  for (let turn = 0; turn < 8; turn++) await sweeper.sweep();
  expect(await usedBytes(database.reader)).toBeLessThan(900_000);
  const left = (await database.db.selectFrom('calls').select('seq').orderBy('seq').execute()).map(({ seq }) => seq);
  expect(left.length).toBeGreaterThan(50);
  expect(left.length).toBeLessThan(190);
  expect(left.at(-1)).toBe(200);
  await records.close();
  await databases.end();
});

it('takes copies of the database that are past their time, and no other file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  mkdirSync(join(folder, 'backups'));
  const kept = ['mine.sqlite', 'records-20251202T000000001Z-request.sqlite'];
  const old = ['records-20251130T235959999Z-migration.sqlite', 'records-20251201T000000000Z-request.sqlite'];
  for (const name of [...kept, ...old]) writeFileSync(join(folder, 'backups', name), '');
  expect(await removeBackupsBefore(folder, new Date('2025-12-02T00:00:00Z'))).toBe(2);
  expect(readdirSync(join(folder, 'backups')).toSorted()).toEqual(kept);
  rmSync(folder, { recursive: true });
  expect(await removeBackupsBefore(folder, new Date())).toBe(0);
});
