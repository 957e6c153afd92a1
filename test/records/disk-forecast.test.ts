import { tmpdir } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { judgeDisk, readDiskFacts } from '../../src/records/disk-forecast.ts';
import { addCall } from '../helpers/record-rows.ts';
import { DATABASES } from './databases.ts';

const GB = 1_000_000_000;
const facts = { folder: '/data', freeBytes: 5 * GB, usedBytes: GB, dailyBytes: GB, keptDays: 2 };
const unbounded = { RETENTION_DAYS: 0, DATA_MAX_BYTES: 0 };

it('says when the disk will be full, where, and what to do', () => {
  expect(judgeDisk(facts, unbounded)).toBe(
    '5000 MB are free on the disk of /data, and calls take 1000 MB a day: it is full in 5.0 days; make room there, ' +
      'or lower RETENTION_DAYS or DATA_MAX_BYTES',
  );
  expect(judgeDisk({ ...facts, dailyBytes: GB / 2 }, unbounded)).toBe(null);
});

it('knows that old calls go, and that room is bounded', () => {
  expect(judgeDisk(facts, { ...unbounded, RETENTION_DAYS: 6 })).toBe(null);
  expect(judgeDisk(facts, { ...unbounded, RETENTION_DAYS: 8 })).toContain('full in 5.0 days');
  expect(judgeDisk(facts, { ...unbounded, DATA_MAX_BYTES: 5 * GB })).toBe(null);
  expect(judgeDisk(facts, { ...unbounded, DATA_MAX_BYTES: 7 * GB })).toContain('full in 5.0 days');
});

it('says that little is left, whatever comes', () => {
  expect(judgeDisk({ ...facts, freeBytes: 400_000_000, dailyBytes: 0 }, unbounded)).toContain('400 MB are free');
});

const databases = DATABASES[0].start();
afterAll(() => databases.end());

it('reckons with the sound and the rows of the last week', async () => {
  const database = await databases.open();
  const nowMs = Date.UTC(2026, 0, 15);
  for (let seq = 1; seq <= 14; seq++)
    await addCall(database.db, seq, [], { started_ms: nowMs - (14 - seq) * 86_400_000, sound_bytes: 7_000_000 });
  const found = await readDiskFacts(database, tmpdir(), { nowMs, soundBytes: 98_000_000 });
  expect(found?.keptDays).toBe(13);
  expect(found?.dailyBytes).toBeGreaterThan(8_000_000);
  expect(found?.dailyBytes).toBeLessThan(8_100_000);
  expect(found?.usedBytes).toBeGreaterThan(98_000_000);
});
