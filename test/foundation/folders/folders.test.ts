import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder, makePrivateFolder, readOwnFile } from '../../../src/foundation/folders/folders.ts';

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
    if (process.platform === 'linux')
      await expect(makeFolder('/proc/none/a')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('makePrivateFolder', () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777;
  const isOurs = (name: string) => name === 'ours';

  it('makes a folder that nobody else can enter, and closes one that others could', async () => {
    const path = join(folder, 'a');
    await makePrivateFolder(path, isOurs);
    expect(modeOf(path)).toBe(0o700);
    writeFileSync(join(path, 'ours'), '');
    chmodSync(path, 0o755);
    await makePrivateFolder(path, isOurs);
    expect(modeOf(path)).toBe(0o700);
  });

  it('leaves a folder as it is that holds anything else: it is there for others too', async () => {
    mkdirSync(join(folder, 'theirs'));
    chmodSync(folder, 0o777);
    await makePrivateFolder(folder, isOurs);
    expect(modeOf(folder)).toBe(0o777);
  });
});

describe('readOwnFile', () => {
  it('reads a file, and neither a link nor a folder', async () => {
    const [file, link] = [join(folder, 'file'), join(folder, 'link')];
    writeFileSync(file, 'content');
    symlinkSync(file, link);
    expect(String(await readOwnFile(file))).toBe('content');
    await expect(readOwnFile(link)).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(readOwnFile(folder)).rejects.toThrow('the file is not ours');
  });
});
