/** What lies in a DATA_DIR where the database is expected: not always a file. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openInFolder } from '../../src/records/open-records.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  mkdirSync(join(folder, 'records'), { mode: 0o700 });
  path = join(folder, 'records', 'records.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

it.each(['', '-wal', '-journal'])('refuses a pipe at records.sqlite%s, which would never open', async (ending) => {
  execFileSync('mkfifo', [`${path}${ending}`]);
  await expect(openInFolder(folder)).rejects.toThrow(`records.sqlite${ending} is no file`);
});

it('refuses a device', async () => {
  symlinkSync('/dev/zero', path);
  await expect(openInFolder(folder)).rejects.toThrow('records.sqlite is no file');
});
