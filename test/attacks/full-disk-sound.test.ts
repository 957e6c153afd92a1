/**
 * Calls are recorded to a disk that is full for a while: a small tmpfs in a mount namespace of its own, which grows
 * after some seconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const IS_ROOT = process.getuid?.() === 0;
/** The reserve that sound leaves, and two megabytes. */
const SMALL = '66m';
const LARGE = '400m';
/** What fits into the small disk, and what only fits into the large one. */
const ROOM_BYTES = 3_000_000;
const ENOUGH_BYTES = 5_000_000;
const FULL_SECONDS = 6;

let folder: string;
let child: ChildProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(async () => {
  if (child?.exitCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true });
});

it('stops the recordings, not the calls, and goes on when there is room', async () => {
  const script =
    `mount -t tmpfs -o size=${SMALL} none "$0" && ` +
    `{ (sleep ${FULL_SECONDS}; mount -o remount,size=${LARGE} "$0") & exec "$1" "$2" "$0"; }`;
  const words = [...(IS_ROOT ? [] : ['-r']), '-m', 'sh', '-c', script, folder, process.execPath];
  child = spawn('unshare', [...words, packagePath('test', 'fakes', 'sound-process.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('no output');
  let bytesWhenFull: number | null = null;
  let bytes = 0;
  let isRecovered = false;
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('bytes ')) bytes = Number(line.split(' ')[1]);
    if (line === 'disk_full') bytesWhenFull ??= bytes;
    if (line === 'recovered' && bytesWhenFull !== null) isRecovered = true;
    if (isRecovered && bytes > ENOUGH_BYTES) break;
  }
  expect(bytesWhenFull).toBeLessThan(ROOM_BYTES);
  expect(bytes).toBeGreaterThan(ENOUGH_BYTES);
});
