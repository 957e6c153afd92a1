import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CachedSet, cachedFiles } from '../../../engine/graph/cache.ts';

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

const contents = (paths: readonly string[]) => paths.map((path) => readFileSync(path, 'utf8'));

describe('cached files', () => {
  it('are made once', async () => {
    const paths = await cachedFiles(set);
    expect(contents(paths)).toEqual(['first', 'second']);
    expect(await cachedFiles(set)).toEqual(paths);
    expect(builds).toBe(1);
  });

  it('lie beside nothing but their checksums', async () => {
    const [path = ''] = await cachedFiles(set);
    expect(readdirSync(join(path, '..')).sort()).toEqual(['SHA256SUMS', 'a', 'b']);
  });

  it.each([
    ['a file is damaged', (path: string) => writeFileSync(path, 'worst')],
    ['a file is cut short', (path: string) => writeFileSync(path, '')],
    ['a file is gone', (path: string) => rmSync(path)],
    ['the checksums are gone', (path: string) => rmSync(join(path, '..', 'SHA256SUMS'))],
  ])('are made again when %s', async (_, damage) => {
    const paths = await cachedFiles(set);
    damage(paths[0] ?? '');
    expect(contents(await cachedFiles(set))).toEqual(['first', 'second']);
    expect(builds).toBe(2);
  });

  it('are others for other sources and other versions, and stay', async () => {
    const paths = await cachedFiles(set);
    const newer = await cachedFiles({ ...set, versions: 'builder 2' });
    writeFileSync(source, 'other weights');
    const other = await cachedFiles(set);
    expect(new Set([paths, newer, other].map(([path = '']) => basename(join(path, '..')))).size).toBe(3);
    expect(contents(paths)).toEqual(['first', 'second']);
  });

  it('may be made by many at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => cachedFiles(set)));
    for (const paths of all) expect(contents(paths)).toEqual(['first', 'second']);
    expect(await cachedFiles(set)).toEqual(all[0]);
    expect(readdirSync(join(all[0]?.[0] ?? '', '..')).sort()).toEqual(['SHA256SUMS', 'a', 'b']);
  });

  it('are not to be had where nothing can be written', async () => {
    await expect(cachedFiles({ ...set, cacheDir: source })).rejects.toThrow('ENOTDIR');
  });
});
