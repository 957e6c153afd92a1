import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { writeHeader } from '../../../src/records/sound/sound-format.ts';
import { soundName } from '../../../src/records/sound/sound-paths.ts';
import { ALL, bytesOf, makeFolder, openStore, removeFolder } from './sound-files.ts';

const CALLS = 20;
/** All are counted, and so many played. */
const CALLS_PLAYED = 4;
/** More than one flush of each call, so that all have sound. */
const ENOUGH_BYTES = 3_000_000;

let folder: string;
let child: ChildProcess | null = null;

beforeEach(async () => {
  folder = await makeFolder();
});

afterEach(async () => {
  child?.kill('SIGKILL');
  await removeFolder(folder);
});

/** Records until enough is on disk, then dies in the middle of it. Returns the bytes that it said were on disk. */
async function recordAndDie(recordKey: string): Promise<number> {
  const program = packagePath('test', 'fakes', 'sound-process.mjs');
  child = spawn(process.execPath, [program, folder, recordKey], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = 0;
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface(child.stdout)) {
    told = Number(line.split(' ')[1] ?? 0);
    if (told > ENOUGH_BYTES) break;
  }
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  return told;
}

test.each(['', 'a passphrase of a test'])(
  'after kill -9 in the middle of 20 calls all that was on disk is played, with the key %j',
  async (recordKey) => {
    const told = await recordAndDie(recordKey);
    expect(await readdir(join(folder, 'unfinished'))).toHaveLength(CALLS);
    const { store, rows } = await openStore(folder, recordKey);
    expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
    expect(rows.size).toBe(CALLS);
    const kept = [...rows.values()].reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
    expect(kept).toBeGreaterThanOrEqual(told);
    for (const callId of [...rows.keys()].slice(0, CALLS_PLAYED)) {
      const owner = { callId, startedMs: Date.UTC(2026, 2, 14) };
      const { bytes } = await store.read(owner, ALL, new AbortController().signal);
      const { channels } = readWav(await bytesOf(bytes));
      expect(channels[0]?.some((sample) => sample !== 0)).toBe(true);
      expect(channels[1]).toEqual(channels[0]);
    }
    await store.close();
  },
);

test('a file that a crash left waits for its key', async () => {
  await recordAndDie('a passphrase of a test');
  const other = await openStore(folder, 'another passphrase of a test');
  expect(await readdir(join(folder, 'unfinished'))).toHaveLength(CALLS);
  await other.store.close();
  const again = await openStore(folder, 'a passphrase of a test');
  expect(again.rows.size).toBe(CALLS);
  await again.store.close();
});

test('a file that a crash left before there was any sound in it is removed, and the call has none', async () => {
  const header = { callId: 'CA1', startedMs: 1.77e12, law: 'mulaw', rateHz: 8000, keyId: null, salt: '' } as const;
  await mkdir(join(folder, 'unfinished'));
  await writeFile(join(folder, 'unfinished', soundName(header)), writeHeader(header));
  const { store, rows } = await openStore(folder);
  expect([...rows]).toEqual([['CA1', null]]);
  expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
  await store.close();
});
