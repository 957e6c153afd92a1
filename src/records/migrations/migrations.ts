/** The schema of the records, step by step. A step that was released is never changed. */
import { type Kysely, type Migration, Migrator } from 'kysely';
import { ConfigError } from '../../foundation/settings/config.ts';
import type { DatabaseKind } from '../database-kind.ts';
import { createRecords } from './0001-records.ts';

const MIGRATIONS_TABLE = 'migrations';
const MIGRATIONS_LOCK_TABLE = 'migrations_lock';

// biome-ignore lint/suspicious/noExplicitAny: migrations run before the tables are those of tables.ts
type AnyDatabase = Kysely<any>;

/** By name; they run in the order of their names. */
const STEPS: Readonly<Record<string, (database: AnyDatabase, kind: DatabaseKind) => Promise<void>>> = {
  '0001-records': createRecords,
};

/** How far the schema of a database is. */
export interface SchemaState {
  readonly applied: readonly string[];
  /** What this program would do to it. */
  readonly pending: readonly string[];
}

/** The latest step that this program knows. */
export const LATEST_MIGRATION = Object.keys(STEPS).toSorted().at(-1) ?? '';

/**
 * How far the schema of `database` is.
 * @throws ConfigError when a newer program has changed it
 */
export async function readSchemaState(database: AnyDatabase): Promise<SchemaState> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const isNew = !tables.some(({ name }) => name === MIGRATIONS_TABLE);
  const rows = isNew ? [] : await database.selectFrom(MIGRATIONS_TABLE).select('name').orderBy('name').execute();
  const applied = rows.map(({ name }) => String(name));
  const unknown = applied.filter((name) => !(name in STEPS));
  if (unknown.length > 0) {
    throw new ConfigError([
      `the records were written by a newer Trunkline: they have ${unknown.at(-1)}, and this one knows up to ` +
        `${LATEST_MIGRATION}. Start that version again, or one from a backup that was made before`,
    ]);
  }
  return { applied, pending: Object.keys(STEPS).filter((name) => !applied.includes(name)) };
}

/**
 * Brings the schema up to this program, all steps or none. Several processes may do this at once; one of them does the
 * work.
 * @throws the error of the database
 */
export async function migrate(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  const migrations = Object.fromEntries(
    Object.entries(STEPS).map(([name, step]): [string, Migration] => [name, { up: (steps) => step(steps, kind) }]),
  );
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
    migrationTableName: MIGRATIONS_TABLE,
    migrationLockTableName: MIGRATIONS_LOCK_TABLE,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Applies the steps with these names as they are, without a note that they were. @throws the error of the database */
export async function applySteps(database: AnyDatabase, kind: DatabaseKind, names: readonly string[]): Promise<void> {
  for (const name of names) await STEPS[name]?.(database, kind);
}
