import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECORDS_FILE } from '../../../src/records/data-folder.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { mayHaveUsers } from '../../../src/records/users/no-users-mark.ts';
import { hashKey } from '../../../src/records/users/secrets.ts';
import { StoredSessions } from '../../../src/records/users/stored-sessions.ts';
import { TableUsers } from '../../../src/records/users/users-table.ts';
import { DATABASES, type TestDatabases } from '../databases.ts';

const ANN = {
  name: 'ann',
  kind: 'key',
  role: 'admin',
  agent: null,
  secret: hashKey('k'),
  createdMs: 1_700_000_000_000,
} as const;

describe.each(DATABASES)('in $name', ({ isThere, start }) => {
  let databases: TestDatabases;
  let database: RecordsDatabase;
  beforeAll(async () => {
    if (!isThere) return;
    databases = start();
    database = await databases.open();
  });
  afterAll(() => databases?.end());

  it.runIf(isThere)('users are there for the next start, each once', async () => {
    const users = await TableUsers.open(database.db, null);
    let changes = 0;
    users.list.onChange(() => {
      changes += 1;
    });
    await users.add(ANN);
    await users.add({ ...ANN, name: 'bob', role: 'agent', agent: 'b', secret: hashKey('b') });
    await expect(users.add({ ...ANN, secret: 'x' })).rejects.toMatchObject({ code: 'user_exists' });
    expect(await users.change('BOB', { role: 'supervisor', agent: null })).toMatchObject({ agent: null });
    const again = await TableUsers.open(database.db, null);
    expect(again.list.all).toEqual(users.list.all);
    expect(again.list.get('ann')).toEqual(ANN);
    expect(again.list.ownerOf('b')?.name).toBe('bob');
    await users.remove('bob');
    await expect(users.remove('bob')).rejects.toMatchObject({ code: 'user_not_found' });
    expect((await TableUsers.open(database.db, null)).list.all).toEqual([ANN]);
    expect(changes).toBe(4);
  });

  it.runIf(isThere)('an admin is left when two gateways take one away at the same time', async () => {
    const { db } = await databases.open();
    for (let round = 0; round < 20; round++) {
      const first = await TableUsers.open(db, null);
      await first.add({ ...ANN, name: 'a', secret: hashKey(`a${round}`) });
      await first.add({ ...ANN, name: 'b', secret: hashKey(`b${round}`) });
      const second = await TableUsers.open(db, null);
      const taken = await Promise.allSettled([
        first.remove('a', true),
        round % 2 === 0 ? second.remove('b', true) : second.change('b', { role: 'supervisor' }, true),
      ]);
      expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await second.reload();
      const left = second.list.all;
      expect(left.filter(({ role }) => role === 'admin')).toHaveLength(1);
      for (const { name } of left) await second.remove(name);
    }
  });

  it.runIf(isThere)('an admin is left when a gateway has not heard yet that another went', async () => {
    const { db } = await databases.open();
    const first = await TableUsers.open(db, null);
    await first.add({ ...ANN, name: 'a', secret: hashKey('a') });
    await first.add({ ...ANN, name: 'b', secret: hashKey('b') });
    const late = await TableUsers.open(db, null);
    await first.remove('a', true);
    await expect(late.remove('b', true)).rejects.toMatchObject({ code: 'last_admin' });
    expect((await TableUsers.open(db, null)).list.all.map(({ name }) => name)).toEqual(['b']);
  });

  it.runIf(isThere)('sessions and the key of their hashes are there for the next start', async () => {
    const sessions = new StoredSessions(database.db);
    const secret = await sessions.secret();
    expect(secret).toHaveLength(32);
    expect(await new StoredSessions(database.db).secret()).toEqual(secret);
    const session = (hash: string, expiresMs: number) => ({ hash, principal: '{}', expiresMs });
    for (const each of [session('late', 3000), session('early', 2000), session('over', 1000)]) await sessions.add(each);
    expect((await sessions.load(1000)).map(({ hash }) => hash)).toEqual(['early', 'late']);
    await sessions.remove(['early', 'nonsense']);
    expect(await new StoredSessions(database.db).load(0)).toEqual([session('late', 3000)]);
  });
});

describe('a DATA_DIR that is not opened', () => {
  let folder: string;
  const [{ start }] = DATABASES;
  const databases = start();
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await databases.end();
  });

  it('may have users, unless it has no records or had no users when it was open', async () => {
    expect(await mayHaveUsers(folder)).toBe(false);
    mkdirSync(join(folder, 'records'));
    writeFileSync(join(folder, RECORDS_FILE), 'damaged');
    expect(await mayHaveUsers(folder)).toBe(true);
    const { db } = await databases.open();
    const users = await TableUsers.open(db, folder);
    expect(await mayHaveUsers(folder)).toBe(false);
    await users.add(ANN);
    expect(await mayHaveUsers(folder)).toBe(true);
    await users.remove('ann');
    await TableUsers.open(db, folder);
    expect(await mayHaveUsers(folder)).toBe(false);
  });
});
