/** The records in a PostgreSQL database. */
import { Kysely, PostgresDialect, sql } from 'kysely';
import { type Clock, sleep } from '../foundation/clock.ts';
import { AdvisoryLock } from '../foundation/database/advisory-lock.ts';
import { nameOfDatabase, openPool } from '../foundation/database/postgres.ts';
import { TellingPostgresDialect } from '../foundation/database/postgres-dialect.ts';
import { POSTGRES_NOW_MS } from '../foundation/database/postgres-time.ts';
import {
  type AwayReason,
  DatabaseAway,
  describeTrouble,
  isDatabaseTrouble,
  reasonOf,
} from '../foundation/database/trouble.ts';
import type { Log } from '../foundation/log/log.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import { type DatabaseReport, reportOf } from './database-report.ts';
import { applySteps, readSchemaState } from './migrations/migrations.ts';
import { migrateTold } from './migrations/told-migration.ts';
import { PostgresCheck, requireRights } from './postgres-check.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { Tables } from './tables.ts';

/** Names our lock among those of other programs in the same database. */
const LOCK_KEY = 7_214_380_061;

/** How long a start waits for a server that is away, or for the gateway before it to end. */
const START_WAIT_MS = 30_000;
const START_PERIOD_MS = 500;

const USED_BY_OTHERS =
  'DATABASE_URL: another server uses this database: give each server a database of its own, or set CLUSTER_KEY on ' +
  'all of them';
const USED_ALONE =
  'DATABASE_URL: a server without CLUSTER_KEY uses this database: end it, or give it a database of its own';

const USED_BY_OLDER =
  'DATABASE_URL: servers of an older version use this database, and this version changes its tables: end all of them ' +
  'first, then start this one';
/** The step since which gateways say in the table `gateways` that they live, and for how long that is believed. */
const CLUSTER_STEP = '0004-cluster';
const HEARD_MS = 10_000;

/** What may pass while a start waits. All else is for its operator to mend. */
const PASSING: ReadonlySet<AwayReason> = new Set(['unreachable', 'connections']);

interface PostgresOptions {
  /** Where session locks work: DATABASE_DIRECT_URL; left out = the same URL. */
  readonly lockUrl?: string;
  /** Several gateways use the database, each of which opens it so. */
  readonly isShared?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Is told of a migration, a line for people each; left out = the log is. */
  readonly tell?: (line: string) => void;
}

/**
 * Opens the database at `url` and brings its schema up to this program.
 * @throws ConfigError when it refuses us, when another server uses it that must not, or when its schema is newer; Error
 * when it cannot be reached
 */
export async function openPostgresRecords(url: string, options: PostgresOptions): Promise<RecordsDatabase> {
  const { clock, log, lockUrl = url, isShared = false } = options;
  const lock = new AdvisoryLock({
    url: lockUrl,
    key: LOCK_KEY,
    isShared,
    clock,
    onChange: (isHeld) => {
      if (isHeld) log.info('the database of the records is ours again');
      else log.warn('the connection that keeps other servers out of the database of the records broke');
    },
  });
  await takeAtStart(lock, options);
  const check = new PostgresCheck();
  const pool = openPool(url, { verify: (client) => check.verify(client) });
  const db = new Kysely<Tables>({ dialect: new TellingPostgresDialect({ pool }, 'the database of the records') });
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= db
      .destroy()
      .catch(() => undefined)
      .then(() => lock.release());
    return closed;
  };
  try {
    await migratePostgres(url, options);
    await check.begin(db);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    kind: 'postgres',
    place: nameOfDatabase(url),
    db,
    reader: db,
    runAtomically: (queries) =>
      db.transaction().execute(async (transaction) => {
        for (const query of queries) await transaction.executeQuery(query);
      }),
    check: () => check.run(db),
    isOpen: true,
    opened: Promise.resolve(),
    requireOurs: () => {
      if (!lock.isHeld) throw notOurs(lock.trouble);
    },
    sizeBytes: () => sizeOf(db),
    backUp: null,
    close,
    abandon: async () => void close(),
  };
}

function notOurs(trouble: unknown): DatabaseAway {
  const why = trouble instanceof Error ? describeTrouble(trouble) : 'it may be that another server uses it now';
  return new DatabaseAway(`the database of the records is not ours for now (${why})`, reasonOf(trouble));
}

/**
 * Runs `work` on a connection of its own, which may take its time, also while servers use the database.
 * @throws the error of the database
 */
export async function inPostgresDatabase<T>(url: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const patient = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, { isPatient: true }) }) });
  try {
    return await work(patient);
  } finally {
    await patient.destroy();
  }
}

/** Waits for gateways of an older version to end: none of them has been tried with tables that it does not know. */
function migratePostgres(url: string, options: PostgresOptions): Promise<void> {
  const { clock, log, isShared = false, tell = (line: string) => log.info(line) } = options;
  return inPostgresDatabase(url, async (db) => {
    const deadlineMs = clock.nowMs() + START_WAIT_MS;
    for (let isTold = false; ; isTold = true) {
      const state = await readSchemaState(db);
      if (state.pending.length === 0) return;
      if (!isShared || !state.applied.includes(CLUSTER_STEP) || !(await hasLiving(db)))
        return migrateTold(db, 'postgres', state, { clock, tell });
      if (clock.nowMs() >= deadlineMs) throw new ConfigError([USED_BY_OLDER]);
      if (!isTold) log.warn('servers of an older version use the database; waiting for their end');
      await sleep(clock, START_PERIOD_MS);
    }
  });
}

async function hasLiving(db: Kysely<Tables>): Promise<boolean> {
  const nowMs = sql.raw(POSTGRES_NOW_MS);
  const found =
    await sql`SELECT 1 FROM gateways WHERE state <> 'ended' AND seen_ms > ${nowMs} - ${HEARD_MS}::bigint`.execute(db);
  return found.rows.length > 0;
}

/**
 * How the database at `url` is, also while a server uses it; nothing is changed.
 * @throws ConfigError when its schema is newer; the error of the database
 */
export function reportPostgres(url: string): Promise<DatabaseReport> {
  return inPostgresDatabase(url, (db) =>
    reportOf({ kind: 'postgres', place: nameOfDatabase(url), db, reader: db, sizeBytes: () => sizeOf(db) }),
  );
}

/** Whether the role of `url` may write what this program keeps. @throws DatabaseAway; the error of the database */
export function requirePostgresRights(url: string): Promise<void> {
  return inPostgresDatabase(url, requireRights);
}

/**
 * Applies the migrations that are pending in one transaction and takes it back. Returns their names. Until then
 * nobody can use the tables that they change.
 * @throws the error of a migration; ConfigError when the schema is newer
 */
export function rehearsePostgres(url: string): Promise<readonly string[]> {
  return inPostgresDatabase(url, async (db) => {
    const { pending } = await readSchemaState(db);
    const takenBack = new Error('taken back');
    await db
      .transaction()
      .execute(async (transaction) => {
        await applySteps(transaction, 'postgres', pending);
        throw takenBack;
      })
      .catch((error: unknown) => {
        if (error !== takenBack) throw error;
      });
    return pending;
  });
}

async function sizeOf(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

async function takeAtStart(lock: AdvisoryLock, { clock, log, isShared = false }: PostgresOptions): Promise<void> {
  const deadlineMs = clock.nowMs() + START_WAIT_MS;
  for (let isTold = false; ; isTold = true) {
    const problem = await tryToTake(lock, isShared);
    if (problem === null) return;
    if (clock.nowMs() >= deadlineMs) throw problem;
    if (!isTold) log.warn({ reason: problem.message }, 'the records cannot be opened; waiting for their database');
    await sleep(clock, START_PERIOD_MS);
  }
}

/** Null = the lock is ours. @throws ConfigError when waiting would not help */
async function tryToTake(lock: AdvisoryLock, isShared: boolean): Promise<Error | null> {
  try {
    if (await lock.take()) return null;
    return new ConfigError([isShared ? USED_ALONE : USED_BY_OTHERS]);
  } catch (error) {
    if (isDatabaseTrouble(error) && PASSING.has(reasonOf(error)))
      return new Error(`the database at DATABASE_URL cannot be reached (${describeTrouble(error)})`);
    const { code, message } = error as { code?: string; message: string };
    throw new ConfigError([`DATABASE_URL: the database refuses the connection (${code ?? message})`]);
  }
}
