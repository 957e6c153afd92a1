/** When nothing is deleted, and how deletion goes on. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { BackupCopies } from '../../src/records/backup-copies.ts';
import { CallRemoval } from '../../src/records/deletion/call-removal.ts';
import { RetentionClock } from '../../src/records/retention/retention-clock.ts';
import { RetentionSweeper } from '../../src/records/retention/retention-sweeper.ts';
import { FakeClock } from '../fakes/clock.ts';
import { addCall } from '../helpers/record-rows.ts';
import { readSettings } from '../helpers/settings.ts';
import { DATABASES } from './databases.ts';
import { openToldGateway, type ToldGateway } from './told-calls.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A clock whose wall time can be set. */
class SetClock extends FakeClock {
  aheadMs = 0;

  override wall(): Date {
    return new Date(super.wall().getTime() + this.aheadMs);
  }
}

const databases = DATABASES[0].start();
afterAll(() => databases.end());

let gateway: ToldGateway;
let clock: SetClock;
let folder: string;

beforeEach(async () => {
  gateway = openToldGateway(await databases.open());
  clock = new SetClock();
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});
afterEach(async () => {
  await gateway.records.close();
  rmSync(folder, { recursive: true });
});

/** One run of a gateway over the same records. */
async function openSweeper(environment: Readonly<Record<string, string>> = {}) {
  const { records, feed, metrics } = gateway;
  const { database, audit } = records;
  const copies = new BackupCopies({ database, folder, audit, clock, log: createLog('silent') });
  const sentences = { sentencesOf: () => [], forget: async () => 0 };
  const removal = new CallRemoval({
    database,
    search: records.lists.texts,
    feed,
    sound: null,
    sentences,
    copies,
    refused: null,
  });
  const told: string[] = [];
  const log = createLog('error', { write: (line) => told.push(line) });
  const time = new RetentionClock(database, clock);
  await time.begin();
  const recorder = { backlog: 0, isTroubled: false };
  const settings = readSettings(environment);
  const parts = { database, copies, refused: null, removal, audit, sound: null, recorder, settings, time, clock, log };
  return { sweeper: new RetentionSweeper({ ...parts, metrics: metrics.records }), copies, told };
}

/** `count` calls, one a day, the latest of which ended a minute ago. */
async function addDaily(count: number): Promise<void> {
  const nowMs = clock.wall().getTime();
  for (let seq = 1; seq <= count; seq++) {
    const endedMs = nowMs - (count - seq) * DAY_MS - MINUTE_MS;
    await addCall(gateway.records.database.db, seq, [], { started_ms: endedMs - MINUTE_MS, ended_ms: endedMs });
  }
}

async function callsLeft(): Promise<number> {
  return (await gateway.records.database.db.selectFrom('calls').select('seq').execute()).length;
}

const held = async () => {
  const { values } = await gateway.metrics.records.retention.held.get();
  return values.flatMap(({ labels, value }) => (value === 1 ? [labels.reason] : []));
};

describe('a clock that is ahead', () => {
  it('deletes nothing at the first start over older records, and says what to do', async () => {
    await addDaily(25);
    clock.aheadMs = 40 * DAY_MS;
    const { sweeper, told } = await openSweeper();
    await sweeper.sweep();
    await sweeper.sweep();
    expect(await callsLeft()).toBe(25);
    expect(sweeper.trustsClock).toBe(false);
    expect(sweeper.hold?.message).toContain('"trunkline db sweep --yes" goes on');
    expect(told).toHaveLength(1);
    expect(await held()).toEqual(['clock_ahead']);
  });

  it('is not believed because calls come meanwhile, nor because the server is started again', async () => {
    await addDaily(25);
    await (await openSweeper()).sweeper.sweep();
    clock.aheadMs = 40 * DAY_MS;
    const atMs = clock.wall().getTime();
    await addCall(gateway.records.database.db, 26, [], { started_ms: atMs - MINUTE_MS, ended_ms: atMs });
    for (let start = 0; start < 2; start++) await (await openSweeper()).sweeper.sweep();
    expect(await callsLeft()).toBe(26);
  });

  it('stops a server that runs, which goes on by itself when the clock is right again', async () => {
    await addDaily(31);
    const { sweeper } = await openSweeper();
    await sweeper.sweep();
    expect(await callsLeft()).toBe(30);
    clock.aheadMs = 40 * DAY_MS;
    clock.advance(MINUTE_MS);
    await sweeper.sweep();
    expect([await callsLeft(), await held()]).toEqual([30, ['clock_ahead']]);
    clock.aheadMs = 0;
    clock.advance(DAY_MS - MINUTE_MS);
    await sweeper.sweep();
    expect([await callsLeft(), await held(), sweeper.hold]).toEqual([29, [], null]);
  });

  it('is believed when somebody says so, and from then on', async () => {
    await addDaily(25);
    clock.aheadMs = 20 * DAY_MS;
    const { sweeper } = await openSweeper();
    await sweeper.sweep();
    expect(await sweeper.plan()).toMatchObject({ calls: { due: 15, kept: 25 } });
    await sweeper.goOn();
    expect([await callsLeft(), sweeper.hold]).toEqual([10, null]);
    clock.advance(DAY_MS);
    await (await openSweeper()).sweeper.sweep();
    expect(await callsLeft()).toBe(9);
  });

  it('may be as wrong as it likes where no call is kept', async () => {
    await (await openSweeper()).sweeper.sweep();
    clock.aheadMs = 400 * DAY_MS;
    const { sweeper } = await openSweeper();
    await sweeper.sweep();
    expect([sweeper.hold, sweeper.trustsClock]).toEqual([null, true]);
  });
});

it('deletes nothing while calls lie in the future, until somebody says that they may', async () => {
  await addDaily(25);
  clock.aheadMs = -10 * DAY_MS;
  const { sweeper } = await openSweeper();
  await sweeper.sweep();
  expect([sweeper.hold?.reason, await held()]).toEqual(['clock_behind', ['clock_behind']]);
  await sweeper.goOn();
  expect(sweeper.hold).toBe(null);
  clock.advance(MINUTE_MS);
  const { sweeper: next } = await openSweeper();
  await next.sweep();
  expect(next.hold).toBe(null);
});

describe('a sweep that would delete much', () => {
  it('waits where the time to keep was made shorter, and names the setting', async () => {
    await addDaily(70);
    const { sweeper, told } = await openSweeper({ RETENTION_DAYS: '7' });
    await sweeper.sweep();
    expect([await callsLeft(), await held()]).toEqual([70, ['too_much']]);
    expect(told.join('')).toContain('63 of 70 calls would go at once, more than 33 %');
    expect(sweeper.trustsClock).toBe(true);
    await sweeper.goOn();
    expect(await callsLeft()).toBe(7);
  });

  it('does not wait for a few calls of a small store, nor where all may go', async () => {
    await addDaily(27);
    await (await openSweeper({ RETENTION_DAYS: '7' })).sweeper.sweep();
    expect(await callsLeft()).toBe(7);
    await addCall(gateway.records.database.db, 100, []);
    for (let seq = 200; seq < 260; seq++) await addCall(gateway.records.database.db, seq, [], { ended_ms: 1 });
    await (await openSweeper({ RETENTION_DAYS: '7', SWEEP_MAX_PERCENT: '100' })).sweeper.sweep();
    expect(await callsLeft()).toBe(8);
  });

  it('goes on where time alone made many calls due: a busy hour a month ago', async () => {
    await addDaily(1);
    const { sweeper } = await openSweeper({ RETENTION_DAYS: '1' });
    await sweeper.sweep();
    const endedMs = clock.wall().getTime();
    for (let seq = 2; seq <= 60; seq++) await addCall(gateway.records.database.db, seq, [], { ended_ms: endedMs });
    for (let hour = 0; hour < 25; hour++) {
      clock.advance(3_600_000);
      await sweeper.sweep();
    }
    expect([await callsLeft(), sweeper.hold]).toEqual([0, null]);
  });

  it('waits for lines of the audit log as for calls', async () => {
    const line = { who: 'tom', role: 'admin', action: 'call.read', call_id: 'CA1', detail: '{}' };
    const at_ms = clock.wall().getTime() - 30 * DAY_MS;
    const lines = Array.from({ length: 1001 }, () => ({ ...line, at_ms }));
    for (let from = 0; from < lines.length; from += 91)
      await gateway.records.database.db
        .insertInto('audit')
        .values(lines.slice(from, from + 91))
        .execute();
    const { sweeper } = await openSweeper({ AUDIT_RETENTION_DAYS: '7' });
    await sweeper.sweep();
    expect(sweeper.hold?.message).toContain('1001 of 1001 lines of the audit log');
  });
});

it('deletes a copy a day after it is past its time, in a sweep that deletes no call', async () => {
  await addDaily(30);
  const { sweeper, copies } = await openSweeper();
  const path = await copies.make();
  expect(readdirSync(join(folder, 'backups'))).toHaveLength(1);
  clock.advance(MINUTE_MS);
  const left: (readonly [number, boolean])[] = [];
  for (let day = 0; day <= 32; day++) {
    clock.advance(day === 0 ? 0 : DAY_MS);
    await sweeper.sweep();
    if (day >= 29) left.push([await callsLeft(), existsSync(path)]);
  }
  expect(left).toEqual([
    [1, true],
    [0, true],
    [0, false],
    [0, false],
  ]);
});
