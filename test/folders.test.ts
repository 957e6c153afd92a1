import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../src/folders.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('makeFolder', () => {
  it('makes what is missing, each with the mode, and leaves what is there', async () => {
    const path = join(folder, 'a', 'b');
    await makeFolder(path, 0o700);
    await makeFolder(path);
    expect([path, join(folder, 'a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('makes a folder that several want at once', async () => {
    const path = join(folder, 'a', 'b', 'c');
    await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(folder, 'a', 'd'))]);
    expect(existsSync(path)).toBe(true);
  });

  it('says so where there can be none', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(makeFolder(join(folder, 'file', 'a'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    if (process.platform === 'linux') await expect(makeFolder('/proc/none/a')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
