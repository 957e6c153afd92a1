/** `trunkline db query`, through a server and without one. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { query } from '../../src/cli/db/query.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { migrateInFolder, openInFolder } from '../../src/records/open-records.ts';
import { sharedPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { addCall } from '../helpers/record-rows.ts';
import { captureTerminal } from '../helpers/terminal.ts';

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  mkdirSync(join(folder, 'records'), { recursive: true });
  const database = await openInFolder(folder);
  await migrateInFolder(database, folder, { clock: systemClock, tell: () => undefined });
  for (let seq = 1; seq <= 3; seq++) await addCall(database.db, seq, []);
  const user = { name: 'tom', kind: 'person', role: 'admin', agent: null, secret: 'hush', created_ms: 0 } as const;
  await database.db.insertInto('users').values(user).execute();
  await database.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

async function ask(sql: string, environment: Readonly<Record<string, string>> = {}) {
  const { terminal, out } = captureTerminal();
  await query(sql, { json: true }, readSettings({ DATA_DIR: folder, ...environment }), terminal);
  return JSON.parse(out.text) as { rows: Record<string, unknown>[]; isCut: boolean };
}

describe('trunkline db query', () => {
  it('answers from a copy, which it removes', async () => {
    expect(await ask('select id, seq from calls order by seq desc limit 2;')).toEqual({
      rows: [
        { id: 'CA3', seq: 3 },
        { id: 'CA2', seq: 2 },
      ],
      isCut: false,
    });
    expect(readdirSync(join(folder, 'backups'))).toEqual([]);
  });

  it('leaves secrets out', async () => {
    expect((await ask('select name, secret from users')).rows).toEqual([{ name: 'tom', secret: '' }]);
    expect((await ask("select * from meta where name = 'session_secret'")).rows).toEqual([]);
  });

  it.each([
    ['delete from calls', /expected one SELECT/],
    ['select 1; delete from calls', /without a semicolon/],
    ['with gone as (select 1) delete from calls', /readonly|read-only|attempt to write/],
    ['select * from nowhere', /no such table: nowhere/],
    ['select length(hex(zeroblob(400000000)))', /out of memory/],
  ])('refuses %s', async (sql, why) => {
    await expect(ask(sql)).rejects.toThrow(why);
    expect((await ask('select count(*) as n from calls')).rows).toEqual([{ n: 3 }]);
  });

  it('gives a thousand rows and says that there are more', async () => {
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n) select i from n';
    const { rows, isCut } = await ask(numbers);
    expect([rows.length, isCut]).toEqual([1000, true]);
  });

  it.runIf(whyNoPostgres === '')(`reads PostgreSQL, and nothing else${whyNoPostgres}`, async () => {
    const postgres = await sharedPostgres();
    const DATABASE_URL = await postgres.createDatabase();
    const { rows } = await ask('select 1 as one, now() as now', { DATABASE_URL });
    expect(rows).toMatchObject([{ one: 1 }]);
    const free = "select set_config('transaction_read_only', 'off', true)";
    await expect(ask(free, { DATABASE_URL })).rejects.toThrow(/read-write mode/);
    const many = await ask('select i from generate_series(1, 5000000) as i', { DATABASE_URL });
    expect([many.rows.length, many.isCut, many.rows.at(-1)]).toEqual([1000, true, { i: 1000 }]);
    const wide = await ask("select repeat('x', 100000) as x from generate_series(1, 1000)", { DATABASE_URL });
    expect([wide.rows.length, wide.isCut]).toEqual([39, true]);
    const huge = "select repeat('x', 300000000) as x";
    await expect(ask(huge, { DATABASE_URL })).rejects.toThrow('more than 16 MB: ask for fewer rows, or for parts');
  });
});
