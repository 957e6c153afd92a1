import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CachedFiles, type CachedSet, cachedFiles } from '../../../engine/graph/cache.ts';
import { findOwnershipProblem } from '../../../engine/graph/ownership.ts';

let folder: string;
let source: string;
let builds: number;
let set: CachedSet;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-cache-'));
  source = join(folder, 'source');
  writeFileSync(source, 'weights');
  builds = 0;
  set = {
    cacheDir: join(folder, 'not', 'there', 'yet'),
    name: 'set',
    sources: [source],
    versions: 'builder 1',
    files: ['a', 'b'],
    build: async () => {
      builds++;
      return new Map([
        ['a', Buffer.from('first')],
        ['b', Buffer.from('second')],
      ]);
    },
  };
});

afterEach(() => rmSync(folder, { recursive: true }));

/** What the files hold that a set is given as. */
async function contentsOf(files: Promise<CachedFiles>): Promise<string[]> {
  const { paths, close } = await files;
  const contents = paths.map((path) => readFileSync(path, 'utf8'));
  await close();
  return contents;
}

const READY = ['first', 'second'];

/** The folders of the sets that there are. */
const setFolders = () => readdirSync(set.cacheDir).map((name) => join(set.cacheDir, name));
const setFolder = () => setFolders()[0] ?? '';

describe('cached files', () => {
  it('are made once', async () => {
    expect(await contentsOf(cachedFiles(set))).toEqual(READY);
    expect(await contentsOf(cachedFiles(set))).toEqual(READY);
    expect(builds).toBe(1);
  });

  it('lie beside nothing but their checksums', async () => {
    await contentsOf(cachedFiles(set));
    expect(readdirSync(setFolder()).sort()).toEqual(['SHA256SUMS', 'a', 'b']);
  });

  it.each([
    ['a file is damaged', (path: string) => writeFileSync(path, 'worst')],
    ['a file is cut short', (path: string) => writeFileSync(path, '')],
    ['a file is gone', (path: string) => rmSync(path)],
    ['the checksums are gone', (path: string) => rmSync(join(path, '..', 'SHA256SUMS'))],
    ['others can write a file', (path: string) => chmodSync(path, 0o646)],
    ['its group can write a file', (path: string) => chmodSync(path, 0o664)],
    ['others can write the checksums', (path: string) => chmodSync(join(path, '..', 'SHA256SUMS'), 0o666)],
    ['a file is a link', (path: string) => replaceByLink(path)],
    ['a file is a pipe that nobody fills', (path: string) => replaceByPipe(path)],
  ])('are made again when %s', async (_, damage) => {
    await contentsOf(cachedFiles(set));
    damage(join(setFolder(), 'a'));
    expect(await contentsOf(cachedFiles(set))).toEqual(READY);
    expect(builds).toBe(2);
    expect(await contentsOf(cachedFiles(set))).toEqual(READY);
    expect(builds).toBe(2);
  });

  it('are others for other sources and other versions, and stay', async () => {
    await contentsOf(cachedFiles(set));
    const first = setFolder();
    await contentsOf(cachedFiles({ ...set, versions: 'builder 2' }));
    writeFileSync(source, 'other weights');
    await contentsOf(cachedFiles(set));
    expect(setFolders().length).toBe(3);
    expect(READY.map((_, index) => readFileSync(join(first, ['a', 'b'][index] ?? ''), 'utf8'))).toEqual(READY);
  });

  it('may be made by many at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => contentsOf(cachedFiles(set))));
    for (const contents of all) expect(contents).toEqual(READY);
    expect(setFolders().length).toBe(1);
    expect(readdirSync(setFolder()).sort()).toEqual(['SHA256SUMS', 'a', 'b']);
  });

  it('are not to be had where nothing can be written', async () => {
    await expect(cachedFiles({ ...set, cacheDir: source })).rejects.toThrow('ENOTDIR');
  });
});

describe('files that somebody else could have written', () => {
  const closed = (path: string) => statSync(path).mode & 0o777;

  it.each([
    ['the folder of all sets', () => set.cacheDir],
    ['the folder of the set', setFolder],
  ])('are not used: %s can be written by everybody', async (_, which) => {
    await contentsOf(cachedFiles(set));
    chmodSync(which(), 0o777);
    await expect(cachedFiles(set)).rejects.toThrow(`nothing in ${which()} is used: it can be written by everybody`);
  });

  it('are made again where only a wide umask let the group write them, and the folders are closed', async () => {
    await contentsOf(cachedFiles(set));
    for (const path of [set.cacheDir, setFolder()]) chmodSync(path, 0o775);
    for (const name of readdirSync(setFolder())) chmodSync(join(setFolder(), name), 0o664);
    expect(await contentsOf(cachedFiles(set))).toEqual(READY);
    expect([builds, closed(set.cacheDir), closed(setFolder()), closed(join(setFolder(), 'a'))]).toEqual([
      2, 0o755, 0o755, 0o644,
    ]);
  });

  it('are made so that nobody else can write them, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      await contentsOf(cachedFiles(set));
    } finally {
      process.umask(umask);
    }
    expect([set.cacheDir, setFolder(), join(setFolder(), 'a'), join(setFolder(), 'SHA256SUMS')].map(closed)).toEqual([
      0o755, 0o755, 0o644, 0o644,
    ]);
  });

  it('are told by owner and mode', () => {
    expect(findOwnershipProblem({ uid: 7, mode: 0o40755 }, 7)).toBeNull();
    expect(findOwnershipProblem({ uid: 0, mode: 0o40755 }, 7)).toBeNull();
    expect(findOwnershipProblem({ uid: 8, mode: 0o40700 }, 7)).toBe('belongs to another user (uid 8)');
    expect(findOwnershipProblem({ uid: 8, mode: 0o40700 }, 0)).toBe('belongs to another user (uid 8)');
    expect(findOwnershipProblem({ uid: 7, mode: 0o41777 }, 7)).toBe('can be written by everybody');
    expect(findOwnershipProblem({ uid: 0, mode: 0o42775 }, 7)).toBe('can be written by its group');
    expect(findOwnershipProblem({ uid: 0, mode: 0o40666 }, undefined)).toBeNull();
  });

  it.runIf(process.getuid?.() === 0)('are not used when they are not ours', async () => {
    await contentsOf(cachedFiles(set));
    chownSync(join(setFolder(), 'a'), 4711, 4711);
    expect(await contentsOf(cachedFiles(set))).toEqual(READY);
    expect(builds).toBe(2);
    chownSync(setFolder(), 4711, 4711);
    await expect(cachedFiles(set)).rejects.toThrow('belongs to another user (uid 4711)');
    mkdirSync(join(folder, 'theirs'));
    chownSync(join(folder, 'theirs'), 4711, 4711);
    await expect(cachedFiles({ ...set, cacheDir: join(folder, 'theirs') })).rejects.toThrow(
      'belongs to another user (uid 4711)',
    );
  });

  it.runIf(process.platform === 'linux')('cannot be put in the place of those that were checked', async () => {
    const { paths, close } = await cachedFiles(set);
    const there = setFolder();
    renameSync(there, join(folder, 'aside'));
    mkdirSync(there);
    for (const name of set.files) writeFileSync(join(there, name), 'planted');
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(READY);
    await close();
  });
});

/** The same content, by way of a link. */
function replaceByLink(path: string): void {
  renameSync(path, join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), path);
}

function replaceByPipe(path: string): void {
  rmSync(path);
  execFileSync('mkfifo', [path]);
}
