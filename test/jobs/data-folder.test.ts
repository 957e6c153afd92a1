import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nativeSqlite } from '../../src/foundation/database/native-sqlite.ts';
import { isDiskTrouble } from '../../src/foundation/folders/disk.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import type { Batch } from '../../src/jobs/batch.ts';
import { openDataFolder } from '../../src/jobs/data-folder.ts';
import { Store } from '../../src/jobs/store.ts';
import { FakeClock } from '../fakes/clock.ts';
import { outwait } from '../helpers/outwait.ts';

let folder: string;
let clock: FakeClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
});

afterEach(() => rmSync(folder, { recursive: true }));

const open = (path: string) => openDataFolder(path, { clock });

describe('openHome', () => {
  it('makes the folder for one process, and opens it again when that has closed it', async () => {
    const path = join(folder, 'a', 'b');
    const dataFolder = await open(path);
    expect(dataFolder.folder).toBe(path);
    await expect(outwait(clock, open(path))).rejects.toThrow(`in use by process ${process.pid} on `);
    await dataFolder.close();
    await (await open(path)).close();
  });

  it('is not refused by what an earlier version says of its owner', async () => {
    const stat = readFileSync('/proc/1/stat', 'utf8');
    writeFileSync(join(folder, 'owner.pid'), `1 ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`);
    const dataFolder = await open(folder);
    expect(existsSync(join(folder, 'owner.pid'))).toBe(false);
    await dataFolder.close();
  });

  it('is a folder of its own where none is named, gone when it is closed', async () => {
    const dataFolder = await open('');
    expect(existsSync(join(dataFolder.folder, 'owner.sock'))).toBe(true);
    await dataFolder.close();
    expect(existsSync(dataFolder.folder)).toBe(false);
  });

  it('is refused where it cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(open(join(folder, 'file'))).rejects.toThrow(/cannot be written to/);
    await expect(open(join(folder, 'file', 'a'))).rejects.toThrow(/cannot be written to \(ENOTDIR\)/);
    if (process.getuid?.() === 0) return;
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0o500);
    await expect(open(locked)).rejects.toThrow(/cannot be written to \(EACCES\)/);
  });
});

describe('Store', () => {
  const batch: Batch = {
    id: 'a',
    tenant: 't',
    createdMs: 0,
    channels: 'mix',
    targetLanguage: '',
    idempotency: null,
    webhook: null,
    state: 'running',
    endedMs: null,
    files: [],
  };

  it('takes away the lock that a killed process left', async () => {
    const first = await Store.open(folder);
    await first.load();
    await first.close();
    mkdirSync(join(folder, 'batches.sqlite.lock'));
    const second = await Store.open(folder);
    expect(await second.load()).toEqual([]);
    await second.close();
  });

  it('fails what is asked of it when its file is no database', async () => {
    writeFileSync(join(folder, 'batches.sqlite'), 'not a database at all, whatever it is called'.repeat(100));
    const store = await Store.open(folder);
    const failure = await store.load().catch((error: unknown) => error);
    expect(String(failure)).toMatch(/file is not a database/);
    expect(isDiskTrouble(failure)).toBe(false);
    await store.close();
  });

  // SQLite in WebAssembly follows a link; the other takes it for a log that cannot be opened.
  it.runIf(nativeSqlite() === null)('says what the disk said when it could not write', async () => {
    const first = await Store.open(folder);
    await first.put(batch, []);
    await first.close();
    // What SQLite writes first goes there: no room for it.
    symlinkSync('/dev/full', join(folder, 'batches.sqlite-wal'));
    const second = await Store.open(folder);
    expect(await second.load()).toEqual([batch]);
    const failure = await second.put({ ...batch, tenant: 'u' }, []).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/the store failed: disk I\/O error$/);
    expect(isDiskTrouble(failure)).toBe(true);
    await second.close();
  });

  it('opens its database when the disk lets it', async () => {
    const first = await Store.open(folder);
    await first.put(batch, []);
    await first.close();
    // Where its log cannot be made.
    mkdirSync(join(folder, 'batches.sqlite-wal'));
    const store = await Store.open(folder);
    const failure = await store.load().catch((error: unknown) => error);
    expect(isDiskTrouble(failure)).toBe(true);
    rmSync(join(folder, 'batches.sqlite-wal'), { recursive: true });
    expect(await store.load()).toEqual([batch]);
    await store.close();
  });

  it('loses nothing when its process is killed at any of its writes', async () => {
    const content = (letter: string): Batch => ({ ...batch, tenant: letter.repeat(20_000) });
    const written = join(folder, 'written');
    mkdirSync(written);
    const store = await Store.open(written);
    await store.put(content('a'), []);
    await store.close();
    const path = join(written, 'batches.sqlite');
    const copies = join(folder, 'copies');
    const [code] = await once(
      spawn(process.execPath, ['-e', COPYING_WRITER, path, JSON.stringify(content('b')), copies]),
      'exit',
    );
    expect(code).toBe(0);
    const writes = readdirSync(copies);
    expect(writes.length).toBeGreaterThan(4);
    for (const write of writes)
      expect([content('a'), content('b')]).toContainEqual(await loadFirst(join(copies, write)));
    expect(await loadFirst(written)).toEqual(content('b'));
  });

  async function loadFirst(path: string): Promise<Batch | undefined> {
    const store = await Store.open(path);
    const [first] = await store.load();
    await store.close();
    return first;
  }
});

/**
 * The store's thread, which copies its folder before each third write: what is in files when a process is killed stays
 * as it is. Only the writes of SQLite in WebAssembly are seen here, so that one is used.
 */
const COPYING_WRITER = `
  const { Worker } = require('node:worker_threads');
  const [path, content, copies] = process.argv.slice(1);
  const patched = \`
    process.getBuiltinModule = () => undefined;
    const fs = require('node:fs');
    const { dirname, join } = require('node:path');
    const { openSync, writeSync } = fs;
    const path = \${JSON.stringify(path)};
    const ours = new Set();
    let writes = 0;
    fs.openSync = (opened, ...rest) => {
      const fd = openSync(opened, ...rest);
      if (String(opened).startsWith(path)) ours.add(fd);
      return fd;
    };
    fs.writeSync = (fd, ...rest) => {
      if (ours.has(fd) && writes++ % 3 === 0) {
        fs.cpSync(dirname(path), join(\${JSON.stringify(copies)}, String(writes)), { recursive: true });
      }
      return writeSync(fd, ...rest);
    };
    import(\${JSON.stringify(${JSON.stringify(packagePath('dist', 'src', 'foundation', 'database', 'sqlite-worker.js'))})});
  \`;
  const worker = new Worker(patched, { eval: true, workerData: { path, setup: '' } });
  const statements = [{ sql: 'UPDATE batches SET content = ?', values: [content] }];
  worker.postMessage({ id: 1, lane: 'write', statements, isAtomic: true });
  worker.postMessage('close');
`;
