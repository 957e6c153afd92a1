import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '../../src/foundation/log/log.ts';
import { BELIEVED_FILE, BelievedClock } from '../../src/jobs/believed-clock.ts';
import { FakeClock } from '../fakes/clock.ts';

const DAY_MS = 86_400_000;
let folder: string;
let clock: FakeClock;
const lines: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-batches-'));
  clock = new FakeClock();
  lines.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (): BelievedClock =>
  new BelievedClock({ folder, clock, log: createLog('info', { write: (line: string) => void lines.push(line) }) });

it('a clock that goes on is believed, also after a restart', async () => {
  expect(await open().mayExpire(null)).toBe(true);
  clock.advance(DAY_MS / 2);
  expect(await open().mayExpire(null)).toBe(true);
  expect(readFileSync(join(folder, BELIEVED_FILE), 'utf8')).toBe(String(clock.wall().getTime()));
  expect(lines).toEqual([]);
});

it.each([40 * DAY_MS, -2 * DAY_MS])(
  'a clock that is off by %i ms removes nothing until somebody says that it is right',
  async (offMs) => {
    const before = open();
    expect(await before.mayExpire(null)).toBe(true);
    const wall = clock.wall().getTime();
    clock.wall = () => new Date(wall + offMs);
    const believed = open();
    expect(await believed.mayExpire(null)).toBe(false);
    expect(await before.mayExpire(null)).toBe(false);
    expect(await believed.mayExpire(null)).toBe(false);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      Array(2).fill(expect.stringContaining(`remove the file ${BELIEVED_FILE} in BATCH_DIR`)),
    );
    rmSync(join(folder, BELIEVED_FILE));
    expect(await believed.mayExpire(null)).toBe(true);
  },
);

it('in a folder from before, the last that happened to a batch is what is known of time', async () => {
  const believed = open();
  expect(await believed.mayExpire(clock.wall().getTime() - 3 * DAY_MS)).toBe(false);
  expect(existsSync(join(folder, BELIEVED_FILE))).toBe(true);
  expect(await open().mayExpire(null)).toBe(false);
});
