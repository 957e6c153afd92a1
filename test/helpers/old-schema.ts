/** Databases of the records as earlier programs left them. */
import { Kysely, Migrator, PostgresDialect } from 'kysely';
import { openPool } from '../../src/foundation/database/postgres.ts';
import type { DatabaseKind } from '../../src/records/database-kind.ts';
import { type AnyDatabase, STEPS } from '../../src/records/migrations/steps.ts';

/** Brings `db` up as a program does that knows no step behind `last`. @throws the error of the database */
export async function migrateTo(db: AnyDatabase, kind: DatabaseKind, last: string): Promise<void> {
  const names = Object.keys(STEPS).filter((name) => name <= last);
  const migrations = names.map((name) => [name, { up: (steps: AnyDatabase) => STEPS[name]?.(steps, kind) }]);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** The PostgreSQL database at `url` with a schema up to the step `last`. Whoever opens it destroys it. */
export async function openOldPostgres(url: string, last: string): Promise<AnyDatabase> {
  const db: AnyDatabase = new Kysely({ dialect: new PostgresDialect({ pool: openPool(url) }) });
  await migrateTo(db, 'postgres', last);
  return db;
}
