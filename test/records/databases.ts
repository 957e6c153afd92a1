/** The databases that keep records, for tests that run over each of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { migrate } from '../../src/records/migrations/migrations.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { openSqliteRecords } from '../../src/records/sqlite-records.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';

/** A kind of database that is there for the tests of one file. */
export interface TestDatabases {
  /** Opens a new and empty database with the tables of the records; {@link TestDatabases.end} closes it. */
  open(): Promise<RecordsDatabase>;
  /** Closes and removes all that were opened. */
  end(): Promise<void>;
}

function sqliteDatabases(): TestDatabases {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-records-'));
  const opened: RecordsDatabase[] = [];
  return {
    open: async () => {
      const database = await openSqliteRecords(join(folder, `${opened.length}.sqlite`));
      opened.push(database);
      await migrate(database.db, 'sqlite');
      return database;
    },
    end: async () => {
      for (const database of opened) await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function postgresDatabases(): TestDatabases {
  let server: Promise<TestPostgres> | null = null;
  const opened: RecordsDatabase[] = [];
  return {
    open: async () => {
      server ??= startPostgres();
      const url = await (await server).createDatabase();
      const database = await openPostgresRecords(url, { clock: systemClock, log: createLog('silent') });
      opened.push(database);
      return database;
    },
    end: async () => {
      for (const database of opened) await database.close();
      await (await server)?.remove();
    },
  };
}

/** For `describe.each`: a test that is not run says so in the name of its database. */
export const DATABASES = [
  { name: 'SQLite', isThere: true, start: sqliteDatabases },
  { name: `PostgreSQL${whyNoPostgres}`, isThere: whyNoPostgres === '', start: postgresDatabases },
] as const;
