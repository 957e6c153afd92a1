/** Where benchmarks of the records keep them: in folders and databases that are gone at the end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import type { DatabaseKind } from '../../src/records/database-kind.ts';
import type { AnyDatabase } from '../../src/records/migrations/steps.ts';
import { migrateInFolder, openInFolder } from '../../src/records/open-records.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { migrateTo, openOldPostgres } from '../helpers/old-schema.ts';
import { startPostgres } from '../helpers/postgres.ts';

/** One place for records. */
export interface RecordsPlace {
  /** The settings of a gateway that keeps its records there. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens it without a gateway; whoever does closes it. */
  open(): Promise<RecordsDatabase>;
  /** Opens it, empty, as a program did that knew no step of the schema behind `step`. */
  openAt(step: string): Promise<OldRecords>;
}

/** Records of an earlier program. */
export interface OldRecords {
  readonly kind: DatabaseKind;
  readonly db: AnyDatabase;
  close(): Promise<void>;
}

/** A kind of database. */
export interface RecordsPlaces {
  readonly name: string;
  /** A new and empty place. */
  make(): Promise<RecordsPlace>;
  /** Removes all that were made. */
  remove(): Promise<void>;
}

/** Folders of SQLite. */
export function sqlitePlaces(): RecordsPlaces {
  const root = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  return {
    name: 'SQLite',
    make: async () => {
      const folder = mkdtempSync(join(root, 'data-'));
      return {
        environment: { DATA_DIR: folder },
        open: async () => {
          const database = await openInFolder(folder);
          await migrateInFolder(database, folder, { clock: systemClock, tell: () => undefined });
          return database;
        },
        openAt: async (step) => {
          const database = await openInFolder(folder);
          await migrateTo(database.db, 'sqlite', step);
          return database;
        },
      };
    },
    remove: async () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Databases of a PostgreSQL server that is started for them. @throws Error when none is installed */
export async function postgresPlaces(): Promise<RecordsPlaces> {
  const server = await startPostgres();
  return {
    name: 'PostgreSQL',
    make: async () => {
      const url = await server.createDatabase();
      return {
        environment: { DATABASE_URL: url },
        open: () => openPostgresRecords(url, { clock: systemClock, log: createLog('silent') }),
        openAt: async (step) => {
          const db = await openOldPostgres(url, step);
          return { kind: 'postgres', db, close: () => db.destroy() };
        },
      };
    },
    remove: () => server.remove(),
  };
}
