/** The databases that keep records, for tests that run over each of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { migrate } from '../../src/records/migrations/migrations.ts';
import type { AnyDatabase } from '../../src/records/migrations/steps.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { openSqliteRecords } from '../../src/records/sqlite-records.ts';
import { migrateTo, openOldPostgres } from '../helpers/old-schema.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../helpers/postgres.ts';

/** A kind of database that is there for the tests of one file. */
export interface TestDatabases {
  /** Opens a new and empty database with the tables of the records; {@link TestDatabases.end} closes it. */
  open(): Promise<RecordsDatabase>;
  /** As an earlier program left it: with the steps of the schema up to this one. */
  openAt(step: string): Promise<RecordsDatabase>;
  /** Closes and removes all that were opened. */
  end(): Promise<void>;
}

function sqliteDatabases(): TestDatabases {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-records-'));
  const opened: RecordsDatabase[] = [];
  const openEmpty = async (): Promise<RecordsDatabase> => {
    const database = await openSqliteRecords(join(folder, `${opened.length}.sqlite`));
    opened.push(database);
    return database;
  };
  return {
    open: async () => {
      const database = await openEmpty();
      await migrate(database.db, 'sqlite');
      return database;
    },
    openAt: async (step) => {
      const database = await openEmpty();
      await migrateTo(database.db, 'sqlite', step);
      return database;
    },
    end: async () => {
      for (const database of opened) await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function postgresDatabases(): TestDatabases {
  let server: Promise<SharedPostgres> | null = null;
  const pools: AnyDatabase[] = [];
  const opened: RecordsDatabase[] = [];
  const createDatabase = async (): Promise<string> => {
    server ??= sharedPostgres();
    return (await server).createDatabase();
  };
  const openOn = async (url: string): Promise<RecordsDatabase> => {
    const database = await openPostgresRecords(url, { clock: systemClock, log: createLog('silent') });
    opened.push(database);
    return database;
  };
  return {
    open: async () => openOn(await createDatabase()),
    openAt: async (step) => {
      const db = await openOldPostgres(await createDatabase(), step);
      pools.push(db);
      return { kind: 'postgres', db, reader: db, isOpen: true } as unknown as RecordsDatabase;
    },
    end: async () => {
      for (const database of opened) await database.close();
      for (const pool of pools) await pool.destroy();
    },
  };
}

/** For `describe.each`: a test that is not run says so in the name of its database. */
export const DATABASES = [
  { name: 'SQLite', kind: 'sqlite', isThere: true, start: sqliteDatabases },
  { name: `PostgreSQL${whyNoPostgres}`, kind: 'postgres', isThere: whyNoPostgres === '', start: postgresDatabases },
] as const;
