import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nativeSqlite } from '../../../src/foundation/database/native-sqlite.ts';
import type { SqliteConnection, SqliteDriver } from '../../../src/foundation/database/sqlite-driver.ts';
import type { SqliteValue } from '../../../src/foundation/database/sqlite-messages.ts';
import { SqliteThread } from '../../../src/foundation/database/sqlite-thread.ts';
import { WASM_SQLITE } from '../../../src/foundation/database/wasm-sqlite.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';

const NATIVE = nativeSqlite();
const DRIVERS: readonly (readonly [string, SqliteDriver])[] = [
  ['WebAssembly', WASM_SQLITE],
  ...(NATIVE === null ? [] : [['Node', NATIVE] as const]),
];
const DURABLE = 'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-sqlite-'));
  path = join(folder, 'a.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(DRIVERS)('SQLite of %s', (_name, driver) => {
  let database: SqliteConnection;
  beforeEach(() => {
    database = driver.open(path);
  });
  afterEach(() => database.close());

  it.each([
    [1, 'integer', 1],
    [-0, 'integer', 0],
    [1.5, 'real', 1.5],
    [2 ** 40, 'integer', 2 ** 40],
    [Number.MAX_SAFE_INTEGER, 'integer', Number.MAX_SAFE_INTEGER],
    [2 ** 60, 'real', 2 ** 60],
    [Number.NaN, 'null', null],
    [5n, 'integer', 5],
    [2n ** 62n, 'integer', 2n ** 62n],
    [-(2n ** 63n), 'integer', -(2n ** 63n)],
    [null, 'null', null],
    ['', 'text', ''],
    ['grüße 😀', 'text', 'grüße 😀'],
    [new Uint8Array(), 'blob', new Uint8Array()],
    [new Uint8Array([0, 255]), 'blob', new Uint8Array([0, 255])],
  ])('keeps %s as %s', (value, type, back) => {
    const [row] = database.prepare('SELECT ? AS value, typeof(?) AS type').all([value, value]);
    expect({ ...row }).toEqual({ value: back, type });
  });

  it('divides whole numbers as such, and counts rows with them', () => {
    expect({ ...database.prepare('SELECT ? / ? AS half').all([7, 2])[0] }).toEqual({ half: 3 });
    expect(database.prepare('SELECT 1 FROM (VALUES (1), (2), (3)) LIMIT ?').all([2])).toHaveLength(2);
  });

  it('says what is wrong in the same words', () => {
    database.exec('CREATE TABLE t (x TEXT NOT NULL UNIQUE, y INTEGER) STRICT');
    // A statement that failed is not used again.
    const insert = (...values: SqliteValue[]) => database.prepare('INSERT INTO t VALUES (?, ?)').run(values);
    expect(insert('a', null)).toBe(1);
    expect(() => insert('a', null)).toThrow(/^UNIQUE constraint failed: t\.x$/);
    expect(() => insert(null, null)).toThrow(/^NOT NULL constraint failed: t\.x$/);
    expect(() => insert('b', 'c')).toThrow(/^cannot store TEXT value in INTEGER column t\.y$/);
    expect(() => database.prepare('SELEC')).toThrow(/^near "SELEC": syntax error$/);
    expect(() => database.prepare('SELECT "no such column"')).toThrow(/^no such column: /);
    expect(() => database.exec('ROLLBACK')).toThrow(/^cannot rollback - no transaction is active$/);
  });

  it('says that a disk is full, and is in no transaction then', () => {
    database.exec('PRAGMA max_page_count = 8; CREATE TABLE t (x TEXT); BEGIN IMMEDIATE');
    expect(database.inTransaction).toBe(true);
    expect(() => database.prepare('INSERT INTO t VALUES (?)').run(['x'.repeat(100_000)])).toThrow(
      /^database or disk is full$/,
    );
    if (database.inTransaction) database.exec('ROLLBACK');
    expect(database.inTransaction).toBe(false);
    expect(database.prepare('SELECT * FROM t').all([])).toEqual([]);
  });

  it('finds words and parts of words', () => {
    database.exec(`
      CREATE VIRTUAL TABLE words USING fts5 (text);
      CREATE VIRTUAL TABLE parts USING fts5 (text, tokenize = 'trigram');
      INSERT INTO words VALUES ('good morning');
      INSERT INTO parts VALUES ('good morning');
    `);
    expect(database.prepare('SELECT 1 FROM words WHERE words MATCH ?').all(['morning'])).toHaveLength(1);
    expect(database.prepare('SELECT 1 FROM parts WHERE parts MATCH ?').all(['orni'])).toHaveLength(1);
  });

  it.each(DRIVERS)('leaves a killed database that %s goes on with', (_next, other) => {
    const written = join(folder, 'written.sqlite');
    const first = driver.open(written);
    first.exec(`${DURABLE} CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('in the log')`);
    // As a kill leaves it.
    for (const ending of ['', '-wal']) copyFileSync(written + ending, join(folder, `killed.sqlite${ending}`));
    first.close();
    const next = other.open(join(folder, 'killed.sqlite'));
    next.exec(DURABLE);
    next.exec("INSERT INTO t VALUES ('after')");
    const found = next.prepare('SELECT x FROM t').all([]);
    expect(found.map(({ x }) => x)).toEqual(['in the log', 'after']);
    next.close();
  });
});

it('opens what the other build left locked, and takes its lock away', async () => {
  const killed = WASM_SQLITE.open(path);
  killed.exec(`${DURABLE} CREATE TABLE t (x TEXT)`);
  killed.close();
  mkdirSync(`${path}.lock`);
  const thread = await SqliteThread.open({ path, setup: '', name: 'the words' });
  expect((await thread.run('read', { sql: 'SELECT * FROM t', values: [] })).rows).toEqual([]);
  await thread.close();
  expect(existsSync(`${path}.lock`)).toBe(false);
});

it('keeps the warning about the SQLite of Node out of the log, and no other', () => {
  const built = packagePath('dist', 'src', 'foundation', 'database', 'native-sqlite.js');
  const program = `
    import { nativeSqlite } from ${JSON.stringify(built)};
    nativeSqlite()?.open(':memory:').close();
    process.emitWarning('something else', 'ExperimentalWarning');
  `;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stderr).toContain('something else');
  expect(stderr).not.toContain('SQLite');
});
