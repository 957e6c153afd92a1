import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiskError } from '../../src/foundation/folders/disk.ts';
import { Metrics, type Metrics as MetricsType } from '../../src/foundation/metrics.ts';
import { RecordingDisk } from '../../src/recordings/disk.ts';

const GIGABYTE = 1_073_741_824;

let folder: string;
let metrics: MetricsType;
let freeBytes: number;
let looks: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  metrics = new Metrics();
  freeBytes = 100 * GIGABYTE;
  looks = [];
});

afterEach(() => rmSync(folder, { recursive: true }));

/** On a disk of `diskBytes`. */
function open(maxBytes: number, diskBytes = 200 * GIGABYTE): RecordingDisk {
  const look = async (path: string) => {
    looks.push(path);
    return { bsize: 4096, blocks: diskBytes / 4096, bavail: freeBytes / 4096 };
  };
  return new RecordingDisk({ maxBytes, metrics, look });
}

const write = (disk: RecordingDisk, name: string, bytes: number): Promise<void> =>
  pipeline(Readable.from([Buffer.alloc(bytes)]), disk.meter(join(folder, name)), new PassThrough().resume());

async function taken(): Promise<number> {
  return (await metrics.uploadDiskBytes.get()).values[0]?.value ?? 0;
}

async function refused(): Promise<Record<string, number>> {
  const { values } = await metrics.uploadDiskRefused.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]));
}

describe('the disk for recordings', () => {
  it('is shared by all files, and there again when they go', async () => {
    const disk = open(1_000_000);
    await write(disk, 'a', 600_000);
    await write(disk, 'b', 300_000);
    expect(await taken()).toBe(900_000);
    await expect(write(disk, 'c', 200_000)).rejects.toMatchObject({
      code: 'upload_disk_full',
      message: expect.stringContaining('recordings take 900000 of 1000000 bytes of disk (UPLOAD_DISK_MAX_BYTES)'),
    });
    await disk.remove(join(folder, 'a'));
    await write(disk, 'c', 200_000);
    expect([await taken(), await refused()]).toEqual([500_000, { budget: 1 }]);
  });

  it('has room for a file that is written anew in place of the one before', async () => {
    const disk = open(1_000_000);
    for (let round = 0; round < 3; round++) await write(disk, 'a', 600_000);
    expect(await taken()).toBe(600_000);
  });

  it('says of a file that would never fit that it is too large', async () => {
    await expect(write(open(1_000_000), 'a', 1_000_001)).rejects.toMatchObject({ code: 'upload_too_large' });
  });

  it('counts what lies there already, and forgets a folder with all that is in it', async () => {
    const disk = open(1_000_000);
    mkdirSync(join(folder, 'batch'));
    writeFileSync(join(folder, 'batch', '0'), Buffer.alloc(400_000));
    await disk.adopt(join(folder, 'batch', '0'));
    await disk.adopt(join(folder, 'batch', 'gone'));
    await write(disk, 'batch-other', 100_000);
    expect(await taken()).toBe(500_000);
    await disk.removeFolder(join(folder, 'batch'));
    expect([await taken(), existsSync(join(folder, 'batch'))]).toEqual([100_000, false]);
  });

  it('leaves some of the disk to everybody else', async () => {
    const disk = open(50 * GIGABYTE);
    freeBytes = GIGABYTE / 4 - 4096;
    await expect(write(disk, 'a', 10)).rejects.toEqual(
      new DiskError('that of the recordings has 268431360 bytes left, of which 268435456 stay free'),
    );
    freeBytes = GIGABYTE / 4;
    await write(disk, 'a', 10);
    await write(open(GIGABYTE, GIGABYTE), 'a', 10);
    expect(await refused()).toEqual({ free: 1 });
  });

  it('looks again while a long file comes', async () => {
    const disk = open(50 * GIGABYTE);
    async function* long(): AsyncGenerator<Buffer> {
      for (let part = 0; part < 12; part++) yield Buffer.alloc(1_048_576);
      freeBytes = 0;
      for (let part = 0; part < 12; part++) yield Buffer.alloc(1_048_576);
    }
    await expect(pipeline(long(), disk.meter(join(folder, 'a')), new PassThrough().resume())).rejects.toBeInstanceOf(
      DiskError,
    );
    expect(looks.length).toBeLessThanOrEqual(5);
    expect(new Set(looks)).toEqual(new Set([folder]));
  });

  it('is not guessed where the system does not know how full it is', async () => {
    const look = (): Promise<never> => Promise.reject(Object.assign(new Error('statfs'), { code: 'ENOSYS' }));
    await write(new RecordingDisk({ maxBytes: 1000, metrics, look }), 'a', 10);
    expect(readdirSync(folder)).toEqual([]);
  });
});
