/** Brings the schema of the records up to this program, step by step. */
import { type Migration, Migrator } from 'kysely';
import { ConfigError } from '../../foundation/settings/config.ts';
import type { DatabaseKind } from '../database-kind.ts';
import { type AnyDatabase, STEPS } from './steps.ts';

const MIGRATIONS_TABLE = 'migrations';
const MIGRATIONS_LOCK_TABLE = 'migrations_lock';

/** How far the schema of a database is. */
export interface SchemaState {
  readonly applied: readonly string[];
  /** What this program would do to it. */
  readonly pending: readonly string[];
}

/**
 * How far the schema of `database` is.
 * @throws ConfigError when a newer program has changed it
 */
export async function readSchemaState(database: AnyDatabase): Promise<SchemaState> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const isNew = !tables.some(({ name }) => name === MIGRATIONS_TABLE);
  const rows = isNew ? [] : await database.selectFrom(MIGRATIONS_TABLE).select('name').orderBy('name').execute();
  const applied = rows.map(({ name }) => String(name));
  const known = Object.keys(STEPS).toSorted();
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new ConfigError([
      `the records were written by a newer Trunkline: they have ${unknown.at(-1)}, and this one knows up to ` +
        `${known.at(-1)}. Start that version again, or one from a backup that was made before`,
    ]);
  }
  return { applied, pending: known.filter((name) => !applied.includes(name)) };
}

/**
 * Brings the schema up to this program, all steps or none. Several processes may do this at once; one of them does the
 * work, and `onStep` is told the name of each step that it begins.
 * @throws the error of the database
 */
export async function migrate(
  database: AnyDatabase,
  kind: DatabaseKind,
  onStep: (name: string) => void = () => undefined,
): Promise<void> {
  const migrations = Object.fromEntries(
    Object.entries(STEPS).map(([name, step]): [string, Migration] => {
      const up = (steps: AnyDatabase): Promise<void> => {
        onStep(name);
        return step(steps, kind);
      };
      return [name, { up }];
    }),
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
