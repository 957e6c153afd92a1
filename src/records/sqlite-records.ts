/** The records in a SQLite database in a folder of this machine. */
import { constants } from 'node:fs';
import { copyFile, open, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CompiledQuery, Kysely } from 'kysely';
import { SqliteThreadDialect, toSqlite } from '../foundation/database/sqlite-dialect.ts';
import { SqliteThread } from '../foundation/database/sqlite-thread.ts';
import { PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { Tables } from './tables.ts';

/** What is deleted is overwritten: https://sqlite.org/pragma.html#pragma_secure_delete */
const SETUP = `
  PRAGMA foreign_keys = ON;
  PRAGMA secure_delete = ON;
`;

/**
 * Opens the database at `path`, in a folder that this process owns. The schema may be older. `onLogLost` is told when
 * another program has deleted its log.
 * @throws the system's error; DiskError when the disk is full or fails; Error when the file is no database
 */
export async function openSqliteRecords(path: string, onLogLost?: () => void): Promise<SqliteRecords> {
  for (const ending of ['', '-wal', '-journal']) await requireFile(`${path}${ending}`);
  const name = 'the database of the records';
  const thread = await SqliteThread.open({ path, setup: SETUP, name, ...(onLogLost !== undefined && { onLogLost }) });
  const records = recordsOn(thread, path, { isOpen: true, opened: Promise.resolve() });
  try {
    await records.db.executeQuery(CompiledQuery.raw('PRAGMA schema_version'));
  } catch (error) {
    void thread.abandon();
    throw error;
  }
  return { ...records, thread };
}

/** To open a pipe never ends, and no signal ends a thread that is at it. */
async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  // A folder is refused by the system itself.
  if (found !== null && !found.isFile() && !found.isDirectory()) throw new Error(`${basename(path)} is no file`);
}

/** What runs the statements of a database: its thread, or one that is not there yet. */
export type SqliteRunner = Pick<SqliteThread, 'run' | 'runAtomically' | 'takeLocks' | 'close' | 'abandon'>;

/** Open records, and their thread. */
export interface SqliteRecords extends RecordsDatabase {
  readonly thread: SqliteThread;
}

/** The records at `path`, whose statements `thread` runs. */
export function recordsOn(
  thread: SqliteRunner,
  path: string,
  state: Pick<RecordsDatabase, 'isOpen' | 'opened'>,
): RecordsDatabase {
  const db = new Kysely<Tables>({ dialect: new SqliteThreadDialect(thread, 'write') });
  const reader = new Kysely<Tables>({ dialect: new SqliteThreadDialect(thread, 'read') });
  let backups: Promise<void> = Promise.resolve();
  return {
    kind: 'sqlite',
    place: path,
    db,
    reader,
    runAtomically: (queries) => runAtomically(db, thread, queries),
    check: async () => undefined,
    get isOpen() {
      return state.isOpen;
    },
    opened: state.opened,
    requireOurs: () => undefined,
    sizeBytes: async () => (await sizeOf(path)) + (await sizeOf(`${path}-wal`)),
    backUp: (copy) => {
      backups = backups.catch(() => undefined).then(() => backUp({ db, thread, path }, copy));
      return backups;
    },
    close: () => thread.close(),
    abandon: () => thread.abandon(),
  };
}

/** The connection is taken first, so that this is not inside of another transaction. */
async function runAtomically(
  db: Kysely<Tables>,
  thread: SqliteRunner,
  queries: readonly CompiledQuery[],
): Promise<void> {
  const statements = queries.map(({ sql, parameters }) => ({ sql, values: parameters.map(toSqlite) }));
  await db.connection().execute(() => thread.runAtomically(statements));
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/**
 * Moves the log into the database's file and lets it grow from there: until that is undone the file does not change, so
 * that it can be copied while writes go on.
 */
async function backUp(
  { db, thread, path }: { readonly db: Kysely<Tables>; readonly thread: SqliteRunner; readonly path: string },
  copy: string,
): Promise<void> {
  const draft = `${copy}.part`;
  await db.executeQuery(CompiledQuery.raw('PRAGMA wal_autocheckpoint = 0'));
  try {
    await db.executeQuery(CompiledQuery.raw('PRAGMA wal_checkpoint(TRUNCATE)'));
    await rm(draft, { force: true });
    await copyFile(path, draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE).finally(() =>
      db.connection().execute(() => thread.takeLocks()),
    );
    const file = await open(draft, 'r+');
    try {
      await file.chmod(PRIVATE_FILE_MODE);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, copy);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    await db.executeQuery(CompiledQuery.raw('PRAGMA wal_autocheckpoint = 1000'));
  }
}
