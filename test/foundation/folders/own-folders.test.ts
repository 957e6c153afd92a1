import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeOwnFolder, removeLeftovers } from '../../../src/foundation/folders/own-folders.ts';
import { FakeClock } from '../../fakes/clock.ts';

const PREFIX = 'trunkline-recordings-';

let parent: string;
let clock: FakeClock;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
});

afterEach(() => rmSync(parent, { recursive: true }));

/** A folder as a killed process leaves it, with a file in it. */
async function leave(name: string): Promise<string> {
  const path = join(parent, name);
  mkdirSync(path);
  writeFileSync(join(path, 'half an upload'), 'x');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(path, 'made'), resolve));
  renameSync(join(path, 'made'), join(path, 'owner.sock'));
  await new Promise((resolve) => server.close(resolve));
  return path;
}

/** Without an owner, last changed so long before now. */
function make(name: string, ageMs: number): string {
  const path = join(parent, name);
  mkdirSync(path);
  const at = new Date(clock.wall().getTime() - ageMs);
  utimesSync(path, at, at);
  return path;
}

describe('a folder of one process', () => {
  it('is there until it is removed, and nobody else’s start removes it', async () => {
    const { path, remove } = await makeOwnFolder(parent, PREFIX, clock);
    writeFileSync(join(path, 'a'), 'x');
    clock.advance(100 * 86_400_000);
    await removeLeftovers(parent, PREFIX, clock);
    expect(existsSync(join(path, 'a'))).toBe(true);
    await remove();
    expect(readdirSync(parent)).toEqual([]);
  });
});

describe('what killed processes left', () => {
  it('is removed, whichever process id it is named by', async () => {
    const [left, ours] = [await leave(`${PREFIX}x`), await leave(`${PREFIX}${process.pid}-x`)];
    const other = await leave('somebody-elses');
    await removeLeftovers(parent, PREFIX, clock);
    expect([left, ours, other].map((path) => existsSync(path))).toEqual([false, false, true]);
  });

  it('is told by its age where it names no owner', async () => {
    const [young, old] = [make(`${PREFIX}young`, 86_400_000), make(`${PREFIX}old`, 86_400_001)];
    await removeLeftovers(parent, PREFIX, clock);
    expect([young, old].map((path) => existsSync(path))).toEqual([true, false]);
  });

  it('is never looked for behind a link', async () => {
    const target = await leave('target');
    symlinkSync(target, join(parent, `${PREFIX}link`));
    await removeLeftovers(parent, PREFIX, clock);
    expect(readdirSync(target).toSorted()).toEqual(['half an upload', 'owner.sock']);
    expect(existsSync(join(parent, `${PREFIX}link`))).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)('is passed over where it is another user’s', async () => {
    const path = await leave(`${PREFIX}others`);
    chownSync(path, 12_345, 12_345);
    await removeLeftovers(parent, PREFIX, clock);
    expect(existsSync(path)).toBe(true);
  });

  it('is no trouble where the folder cannot be read', async () => {
    await removeLeftovers(join(parent, 'missing'), PREFIX, clock);
  });
});
