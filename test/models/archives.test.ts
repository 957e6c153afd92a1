import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { type ArchiveKind, archiveKind, entriesOf } from '../../src/models/archives.ts';
import { tarHeader, tarPadding } from '../../src/models/tar-format.ts';
import { ArchiveError } from '../../src/models/zip-format.ts';
import { noise } from '../helpers/models.ts';
import { makeZip } from '../helpers/zip.ts';

const folder = mkdtempSync(join(tmpdir(), 'trunkline-archives-'));
afterAll(() => rmSync(folder, { recursive: true }));

const BIG = noise(200_000, 7);

function fileWith(bytes: Buffer): string {
  const path = join(folder, 'archive');
  writeFileSync(path, bytes);
  return path;
}

function makeTar(files: Readonly<Record<string, Buffer>>): Buffer {
  const parts = Object.entries(files).flatMap(([path, data]) => [
    tarHeader(path, data.length),
    data,
    Buffer.alloc(tarPadding(data.length)),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** Everything in an archive; `isWanted` are read, the others passed over. */
async function unpack(bytes: Buffer, isWanted: (path: string) => boolean = () => true) {
  const path = fileWith(bytes);
  const kind = await archiveKind(path);
  expect(kind).not.toBeNull();
  const found: Record<string, Buffer | number> = {};
  for await (const entry of entriesOf(path, kind as ArchiveKind, bytes.length)) {
    const chunks: Uint8Array[] = [];
    if (isWanted(entry.path)) for await (const chunk of entry.read()) chunks.push(chunk);
    found[entry.path] = isWanted(entry.path) ? Buffer.concat(chunks) : entry.bytes;
  }
  return found;
}

describe('archives', () => {
  const files = { 'a/one.bin': BIG, 'a/empty': Buffer.alloc(0), 'two.bin': Buffer.from('two') };
  const zipped = Object.entries(files).map(([path, data], i) => ({ path, data, isStored: i === 2 }));

  it.each([
    ['zip', makeZip(zipped)],
    ['tar', makeTar(files)],
    ['gzip', gzipSync(makeTar(files))],
  ])('give their files one after the other: %s', async (kind, bytes) => {
    expect(await archiveKind(fileWith(bytes))).toBe(kind);
    expect(await unpack(bytes)).toEqual(files);
    expect(await unpack(bytes, (path) => path === 'two.bin')).toEqual({
      'a/one.bin': 200_000,
      'a/empty': 0,
      'two.bin': files['two.bin'],
    });
  });

  it('are known by their first bytes', async () => {
    expect(await archiveKind(fileWith(BIG))).toBeNull();
    expect(await archiveKind(fileWith(Buffer.alloc(0)))).toBeNull();
    expect(await archiveKind(fileWith(Buffer.alloc(2000)))).toBeNull();
  });

  it('pass over folders and what is encrypted', async () => {
    const zip = makeZip([
      { path: 'folder/', data: Buffer.alloc(0) },
      { path: 'secret', data: BIG, isEncrypted: true },
      { path: 'plain', data: Buffer.from('plain') },
    ]);
    expect(await unpack(zip)).toEqual({ plain: Buffer.from('plain') });
  });

  it('are refused when a file is longer than announced', async () => {
    const zip = makeZip([{ path: 'a', data: BIG, bytes: 1000 }]);
    await expect(unpack(zip)).rejects.toThrow(new ArchiveError('one of its files is longer than announced'));
  });

  it('are refused when they unpack to a hundred times their size', async () => {
    const bomb = Buffer.alloc(50_000_000);
    const refused = new ArchiveError('it unpacks to more than 100 times its size');
    await expect(unpack(makeZip([{ path: 'a', data: bomb }]))).rejects.toThrow(refused);
    await expect(unpack(gzipSync(makeTar({ a: bomb })))).rejects.toThrow(refused);
  });

  const whole = makeZip(zipped);
  it.each([
    ['a zip file without its end', whole.subarray(0, -30), 'it is not a whole zip file: its end is missing'],
    [
      'a zip file without its beginning',
      Buffer.concat([whole.subarray(0, 4), whole.subarray(9000)]),
      /directory|damaged/,
    ],
    ['a tar file that ends too early', makeTar(files).subarray(0, 100_000), 'it ends too early'],
    [
      'a tar file with a wrong header',
      Buffer.concat([makeTar(files).subarray(0, 512), noise(2000, 9)]),
      /damaged|early/,
    ],
  ])('are refused when they are damaged: %s', async (_, bytes, message) => {
    await expect(unpack(bytes)).rejects.toThrow(message);
  });
});
