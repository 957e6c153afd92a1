import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nativeSqlite } from '../../../src/foundation/database/native-sqlite.ts';
import { SqliteThread } from '../../../src/foundation/database/sqlite-thread.ts';
import { DatabaseAway } from '../../../src/foundation/database/trouble.ts';
import { DiskError } from '../../../src/foundation/folders/disk.ts';
import { FakeClock } from '../../fakes/clock.ts';

const SETUP = 'CREATE TABLE IF NOT EXISTS words (word TEXT NOT NULL UNIQUE) STRICT;';

let folder: string;
let thread: SqliteThread;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-sqlite-'));
  thread = await SqliteThread.open({ path: join(folder, 'a.sqlite'), setup: SETUP, name: 'the words' });
});
afterEach(async () => {
  await thread.close();
  rmSync(folder, { recursive: true });
});

const insert = (word: string) => ({ sql: 'INSERT INTO words VALUES (?)', values: [word] });
const all = { sql: 'SELECT word FROM words ORDER BY word', values: [] };
const words = async () => (await thread.run('read', all)).rows.map(({ word }) => word);

describe('a SQLite thread that does not answer', () => {
  let stuck: SqliteThread;
  let clock: FakeClock;
  let busy: Promise<unknown>;
  /** The disk that is stuck: to open a pipe takes until somebody else opens it. */
  let path: string;
  beforeEach(async () => {
    clock = new FakeClock();
    path = join(folder, 'b.sqlite');
    stuck = await SqliteThread.open({ path, setup: SETUP, name: 'the words', clock });
    rmSync(path);
    execFileSync('mkfifo', [path]);
    busy = stuck.run('write', all).catch((error: Error) => error.message);
  });
  afterEach(async () => {
    const ended = stuck.abandon();
    const pipe = openSync(path, constants.O_RDWR);
    await ended;
    closeSync(pipe);
  });

  it('holds a read for 15 s, refuses more reads than a thousand, and loses no write', async () => {
    const read = stuck.run('read', all).catch((error: unknown) => error);
    let written = false;
    void stuck.run('write', insert('a')).then(
      () => undefined,
      () => {
        written = true;
      },
    );
    await clock.run(14_000);
    const more = Array.from({ length: 1000 }, () => stuck.run('read', all).catch((error: unknown) => error));
    expect(await more.at(-1)).toBeInstanceOf(DatabaseAway);
    await clock.run(1000);
    expect(await read).toBeInstanceOf(DatabaseAway);
    expect(String(await read)).toContain('the words does not answer');
    expect(written).toBe(false);
  });

  it('is given up at once, before it ends', async () => {
    void stuck.abandon();
    expect(await busy).toBe('the words is closed');
    await expect(stuck.run('read', all)).rejects.toThrow('the words is closed');
  });
});

describe('a SQLite thread', () => {
  it('does all statements of a transaction or none, and says why without the path', async () => {
    await thread.runAtomically([insert('a'), insert('b')]);
    await expect(thread.runAtomically([insert('c'), insert('a')])).rejects.toThrow(
      /^the words failed: UNIQUE constraint failed: words.word$/,
    );
    expect(await words()).toEqual(['a', 'b']);
  });

  it('says how many rows a statement changed, and gives the rows of one that returns them', async () => {
    expect((await thread.run('write', insert('a'))).changes).toBe(1);
    const returning = { sql: "UPDATE words SET word = 'b' RETURNING word", values: [] };
    expect((await thread.run('write', returning)).rows).toEqual([{ word: 'b' }]);
  });

  it('does a write before the reads that wait', async () => {
    const order: string[] = [];
    const slow = {
      sql: 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT count(*) FROM n',
      values: [],
    };
    const reads = Array.from({ length: 5 }, (_, i) => thread.run('read', slow).then(() => order.push(`read ${i}`)));
    await reads[0];
    await thread.run('write', insert('a')).then(() => order.push('write'));
    await Promise.all(reads);
    expect(order.indexOf('write')).toBeLessThan(4);
    expect(order.at(-1)).toBe('read 4');
  });

  it('lets reads see nothing of a transaction whose statements come one by one', async () => {
    await thread.run('write', { sql: 'BEGIN IMMEDIATE', values: [] });
    await thread.run('write', insert('a'));
    let seen: unknown = null;
    const reading = words().then((found) => {
      seen = found;
    });
    await thread.run('write', insert('b'));
    expect(seen).toBeNull();
    await thread.run('write', { sql: 'ROLLBACK', values: [] });
    await reading;
    expect(seen).toEqual([]);
  });

  it('tells a full disk from a mistake, and goes on when there is room', async () => {
    await thread.run('write', { sql: 'PRAGMA max_page_count = 8', values: [] });
    const many = Array.from({ length: 400 }, (_, i) => insert(`${i} `.repeat(200)));
    const error = await thread.runAtomically(many).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DiskError);
    expect(await words()).toEqual([]);
    await thread.run('write', { sql: 'PRAGMA max_page_count = 4294967294', values: [] });
    await thread.runAtomically(many);
    expect(await words()).toHaveLength(400);
  });

  it('takes away the lock of a process that was killed', async () => {
    await thread.run('write', insert('a'));
    await thread.close();
    mkdirSync(join(folder, 'a.sqlite.lock'));
    thread = await SqliteThread.open({ path: join(folder, 'a.sqlite'), setup: SETUP, name: 'the words' });
    expect(await words()).toEqual(['a']);
  });

  it('refuses what comes after it was closed', async () => {
    await thread.close();
    await expect(words()).rejects.toThrow('the words is closed');
  });
});

describe('a SQLite thread whose log another program deletes', () => {
  /** What the next start would find of it, were this process killed now. */
  async function wordsAfterKill(): Promise<unknown[]> {
    const copy = join(folder, 'copy.sqlite');
    for (const ending of ['', '-wal'])
      if (existsSync(join(folder, `a.sqlite${ending}`)))
        copyFileSync(join(folder, `a.sqlite${ending}`), `${copy}${ending}`);
    const next = await SqliteThread.open({ path: copy, setup: SETUP, name: 'the words' });
    const { rows } = await next.run('read', all);
    await next.close();
    for (const ending of ['', '-wal']) rmSync(`${copy}${ending}`, { force: true });
    return rows.map(({ word }) => word);
  }
  const deleteLog = () => rmSync(join(folder, 'a.sqlite-wal'));

  it('has answered nothing that a kill would lose', async () => {
    await thread.runAtomically([insert('a')]);
    deleteLog();
    await thread.runAtomically([insert('b')]);
    expect(await wordsAfterKill()).toEqual(['a', 'b']);
    await thread.runAtomically([insert('c')]);
    expect(await wordsAfterKill()).toEqual(['a', 'b', 'c']);
  });

  it('begins a new log by itself, and says so', async () => {
    await thread.close();
    let times = 0;
    const onLogLost = (): void => {
      times++;
    };
    thread = await SqliteThread.open({ path: join(folder, 'a.sqlite'), setup: SETUP, name: 'the words', onLogLost });
    await thread.runAtomically([insert('a')]);
    deleteLog();
    await expect.poll(() => times).toBe(1);
    expect(await wordsAfterKill()).toEqual(['a']);
    await thread.runAtomically([insert('b')]);
    expect(existsSync(join(folder, 'a.sqlite-wal'))).toBe(true);
  });

  it('waits for the end of a transaction', async () => {
    await thread.run('write', { sql: 'BEGIN IMMEDIATE', values: [] });
    await thread.run('write', insert('a'));
    await thread.run('write', { sql: 'COMMIT', values: [] });
    deleteLog();
    await thread.run('write', { sql: 'BEGIN IMMEDIATE', values: [] });
    await thread.run('write', insert('b'));
    await thread.run('write', { sql: 'COMMIT', values: [] });
    expect(await wordsAfterKill()).toEqual(['a', 'b']);
  });
});

describe.runIf(nativeSqlite() !== null)("a SQLite thread with the system's locks", () => {
  const LOOK = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    database.exec('BEGIN');
    process.stdout.write(String(database.prepare('SELECT count(*) AS words FROM words').get().words));
  `;
  const path = () => join(folder, 'a.sqlite');
  /** What another program gets that looks into the file. */
  function look(): string {
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', LOOK, path()], { encoding: 'utf8' });
    return stdout + (/Error: .*/.exec(stderr)?.[0] ?? '');
  }

  it('lets no other program look, and loses no log', async () => {
    await thread.runAtomically([insert('a')]);
    expect(look()).toBe('Error: database is locked');
    expect(existsSync(`${path()}-wal`)).toBe(true);
    await thread.close();
    expect(look()).toBe('1');
  });

  it('has them again after this process has read the file', async () => {
    await thread.runAtomically([insert('a')]);
    copyFileSync(path(), join(folder, 'copy.sqlite'));
    await thread.takeLocks();
    expect(look()).toBe('Error: database is locked');
    expect(await words()).toEqual(['a']);
  });

  it('lets them go with a thread that is given up', async () => {
    await thread.runAtomically([insert('a')]);
    await thread.abandon();
    expect(look()).toBe('1');
  });

  it('waits for a program that has the file open, as for a disk', async () => {
    await thread.runAtomically([insert('a')]);
    await thread.close();
    const other = spawn(process.execPath, ['-e', `${LOOK} setInterval(() => database, 1000);`, path()]);
    await once(other.stdout, 'data');
    thread = await SqliteThread.open({ path: path(), setup: SETUP, name: 'the words' });
    const failure = await thread.runAtomically([insert('b')]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DiskError);
    expect(String(failure)).toContain('database is locked: another program has its file open');
    other.kill('SIGKILL');
    await once(other, 'exit');
    await thread.runAtomically([insert('b')]);
    expect(await words()).toEqual(['a', 'b']);
  });
});
