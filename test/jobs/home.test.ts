import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHome } from '../../src/jobs/home.ts';
import { Store } from '../../src/jobs/store.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const marker = () => join(folder, 'owner.pid');

describe('openHome', () => {
  it('makes the folder for one process, and opens it again for the same one', async () => {
    const path = join(folder, 'a', 'b');
    expect(await openHome(path)).toEqual({ folder: path, isTemporary: false });
    await openHome(path);
    expect(readFileSync(join(path, 'owner.pid'), 'utf8').split(' ')[0]).toBe(String(process.pid));
  });

  it('is refused while another process has it, and not when that is gone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' });
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const birth = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    writeFileSync(marker(), `${child.pid} ${birth}`);
    await expect(openHome(folder)).rejects.toThrow(`in use by process ${child.pid}`);
    writeFileSync(marker(), `${child.pid} 1`);
    await openHome(folder);
    writeFileSync(marker(), `${child.pid} ${birth}`);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    await openHome(folder);
  });

  it('is refused where it cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(openHome(join(folder, 'file'))).rejects.toThrow(/cannot be written to/);
    await expect(openHome(join(folder, 'file', 'a'))).rejects.toThrow(/cannot be written to \(ENOTDIR\)/);
    if (process.getuid?.() === 0) return;
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0o500);
    await expect(openHome(locked)).rejects.toThrow(/cannot be written to \(EACCES\)/);
  });
});

describe('Store', () => {
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
    await expect(store.load()).rejects.toThrow(/file is not a database/);
  });
});
