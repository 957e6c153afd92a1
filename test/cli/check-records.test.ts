import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkDisk, checkRecords, checkServer } from '../../src/cli/check-records.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { ownFolder } from '../../src/foundation/folders/folder-owner.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'trunkline-check-'));
writeFileSync(join(folder, 'file'), '');
afterAll(() => rmSync(folder, { recursive: true }));

describe('the check of the records', () => {
  it.each([
    [{ DATA_DIR: 'none' }, 'ok', /nothing is kept of calls/],
    [{ DATA_DIR: join(folder, 'a', 'b') }, 'ok', /kept for 30 days in .*\/a\/b \(none yet\)/],
    [{ DATA_DIR: folder, RETENTION_DAYS: '0' }, 'ok', /kept for ever in/],
    [{ DATA_DIR: join(folder, 'file', 'a') }, 'fail', /cannot be used \(ENOTDIR\): set DATA_DIR/],
    [{ XDG_STATE_HOME: join(folder, 'file') }, 'warn', /cannot be used \(ENOTDIR\)/],
    [{ DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/db' }, 'fail', /cannot be used \(ECONNREFUSED\)/],
  ])('of %j', async (environment, status, detail) => {
    const [finding] = await checkRecords(readSettings(environment));
    expect(finding).toMatchObject({ name: 'records', status, detail: expect.stringMatching(detail) });
    expect(finding?.detail).not.toContain('hush');
  });

  it('names a folder for sound that cannot be used beside a database', async () => {
    const database = { DATABASE_URL: 'postgres://127.0.0.1:1/db' };
    const folderOf = async (environment: Record<string, string>) =>
      (await checkRecords(readSettings({ ...database, ...environment }))).slice(1);
    expect(await folderOf({ DATA_DIR: folder, RECORD: 'both' })).toEqual([]);
    expect(await folderOf({ DATA_DIR: 'none' })).toEqual([]);
    expect(await folderOf({ DATA_DIR: join(folder, 'file', 'a') })).toMatchObject([{ status: 'fail' }]);
  });
});

describe('the check of the disk', () => {
  const check = (free: number | null, DATA_DIR = join(folder, 'a', 'b')) => checkDisk({ DATA_DIR }, async () => free);

  it('names the folder, what is free, and what to do', async () => {
    expect(await check(5_000_000_000)).toMatchObject([{ status: 'ok' }]);
    expect(await check(400_000_000)).toMatchObject([{ status: 'warn' }]);
    const [full] = await check(0);
    expect(full).toMatchObject({ status: 'fail', detail: expect.stringContaining(`on the disk of ${folder}`) });
    expect(full?.detail).toContain('make room there');
  });

  it('says nothing where nothing is kept, or the disk cannot be asked', async () => {
    expect(await check(0, 'none')).toEqual([]);
    expect(await check(null)).toEqual([]);
  });
});

describe('the check of the server', () => {
  const warning = '900 MB are free on the disk of /data, and calls take 300 MB a day: it is full in 3.0 days';

  it('tells what the server warns of that uses the folder', async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ status: 'ready', warnings: [warning] }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const settings = readSettings({
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      PORT: String((server.address() as AddressInfo).port),
      API_KEYS: 'a key of sixteen characters',
    });
    expect(await checkServer(settings)).toEqual([]);
    const ownership = await ownFolder(folder, { clock: systemClock });
    expect(await checkServer(settings)).toEqual([{ name: 'server', status: 'warn', detail: warning }]);
    expect(asked).toEqual(['Bearer a key of sixteen characters']);
    server.close();
    server.closeAllConnections();
    expect(await checkServer(settings)).toEqual([]);
    await ownership.release();
  });
});
