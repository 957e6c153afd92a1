/** Opens what a gateway keeps, as its settings say, before anything listens. */
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { explainTrouble, isDatabaseTrouble } from '../foundation/database/trouble.ts';
import { makePrivateFolder } from '../foundation/folders/folders.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { ConfigError, NO_FOLDER } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { type DataFolder, DataFolderRefused, openDataFolder, RECORDS_FILE } from './data-folder.ts';
import { DataFolderWatch } from './data-folder-watch.ts';
import { openLater } from './late-records.ts';
import { readSchemaState } from './migrations/migrations.ts';
import { type MigrationListener, migrateTold } from './migrations/told-migration.ts';
import { recordRedaction } from './record-redaction.ts';
import { Records } from './records.ts';
import type { RecordsDatabase } from './records-database.ts';
import { refuseSound } from './sound/open-sound.ts';
import { makeBackup } from './sqlite-backups.ts';
import { openSqliteRecords, type SqliteRecords } from './sqlite-records.ts';
import { mayHaveUsers } from './users/no-users-mark.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';

const LOG_LOST =
  'another program opened the live database of the records and deleted its log; nothing is lost, and a new log was ' +
  'begun. Look inside with "trunkline db query", never with sqlite3: what it writes may destroy the records';
const OWN_FILES = /^records\.sqlite/;

interface OpenOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What a gateway keeps. */
export interface OpenedRecords {
  /** Null = nothing is kept. */
  readonly records: Records | null;
  /** The records could not be opened, at least not yet, and there may be users in them. */
  readonly mayHaveUsers: boolean;
  /** With the folders that lie in DATA_DIR unless they are set. */
  readonly settings: Settings;
  /** Closes the records and gives DATA_DIR up. */
  close(): Promise<void>;
}

/**
 * Opens DATA_DIR and the records. A default folder that cannot be used is told, and nothing is kept. Where the disk is
 * full or fails, that is told, and the records are opened as soon as that is possible.
 * @throws ConfigError when a folder or database that was set cannot be used, or when its records are newer than this
 * program; Error when the database cannot be reached
 */
export async function openRecords(options: OpenOptions): Promise<OpenedRecords> {
  const { settings, clock, log, metrics } = options;
  const mayHave = settings.DATA_DIR !== NO_FOLDER && (await mayHaveUsers(settings.DATA_DIR));
  const folder = await openFolder(options);
  try {
    const database = await openDatabase(folder, options);
    const records =
      database === null
        ? null
        : new Records({
            database,
            folder: folder?.path ?? null,
            retentionDays: settings.RETENTION_DAYS,
            isShared: isShared(settings),
            redaction: recordRedaction(settings, clock),
            clock,
            log,
            metrics,
          });
    await records?.openSound(settings);
    const webhooks = openWebhooks(settings, records, options);
    if (webhooks !== null) records?.openOutbox(webhooks.outbox, webhooks.types);
    const watch =
      folder === null
        ? null
        : new DataFolderWatch({
            folder: folder.path,
            hasRecords: typeof records?.sqliteFolder === 'string',
            clock,
            metrics: metrics.records,
          });
    if (records === null && folder === null) refuseSound(settings, 'there is no folder for it');
    tellWhere(records, log);
    return {
      records,
      mayHaveUsers: mayHave && database?.isOpen !== true,
      settings: folder === null ? settings : withFoldersIn(folder.path, settings),
      close: async () => {
        watch?.close();
        await records?.close();
        await folder?.close();
      },
    };
  } catch (error) {
    await folder?.close();
    throw error;
  }
}

function tellWhere(records: Records | null, log: Log): void {
  if (records?.database.isOpen !== true) return;
  const { database, retentionDays } = records;
  log.info({ kind: database.kind, place: database.place, retentionDays }, 'records of calls are kept');
}

async function openFolder({ settings, clock, log }: OpenOptions): Promise<DataFolder | null> {
  const { DATA_DIR, isDataDirDefault } = settings;
  if (DATA_DIR === NO_FOLDER) return null;
  const onWait = (owner: string): void =>
    log.warn({ owner }, 'DATA_DIR is in use; waiting some seconds for its owner to end');
  try {
    return await openDataFolder(DATA_DIR, { clock, onWait });
  } catch (error) {
    if (!(error instanceof DataFolderRefused)) throw error;
    if (!isDataDirDefault) {
      const got = JSON.stringify(DATA_DIR);
      throw new ConfigError([`DATA_DIR: got ${got}, expected a folder that can be written to, but ${error.message}`]);
    }
    log.warn(
      { reason: error.message },
      `nothing is kept of calls: ${DATA_DIR} cannot be used. Set DATA_DIR to another folder, or to ${NO_FOLDER}`,
    );
    return null;
  }
}

async function openDatabase(folder: DataFolder | null, options: OpenOptions): Promise<RecordsDatabase | null> {
  const { settings, clock, log, metrics } = options;
  const { DATABASE_URL, DATABASE_DIRECT_URL } = settings;
  if (DATABASE_URL !== '') {
    const lockUrl = DATABASE_DIRECT_URL || DATABASE_URL;
    const { openPostgresRecords } = await import('./postgres-records.ts');
    return openPostgresRecords(DATABASE_URL, { clock, log, lockUrl, isShared: isShared(settings) });
  }
  if (folder === null) return null;
  try {
    return await openSqlite(folder.path, options);
  } catch (error) {
    if (isDatabaseTrouble(error)) {
      metrics.records.openFailures.inc();
      log.error(
        { reason: explainTrouble(error) },
        'the records cannot be opened for now; calls go on, what is told waits in memory, and it is tried again',
      );
      const { path } = folder;
      const open = () => openSqlite(path, options);
      return openLater({ path: join(path, RECORDS_FILE), open, clock, log, metrics: metrics.records });
    }
    throw asConfigError(error, settings);
  }
}

/** Whether other gateways write to the same database. */
function isShared({ DATABASE_URL, CLUSTER_KEY }: Settings): boolean {
  return DATABASE_URL !== '' && CLUSTER_KEY !== '';
}

async function openSqlite(folder: string, { clock, log, metrics }: OpenOptions): Promise<SqliteRecords> {
  const database = await openInFolder(folder, () => {
    metrics.records.logsLost.inc();
    log.error({ path: join(folder, RECORDS_FILE) }, LOG_LOST);
  });
  try {
    const backup = await migrateInFolder(database, folder, { clock, tell: (line) => log.info(line) });
    if (backup !== null) log.info({ backup }, 'the records were brought up to this version');
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Opens the database in `folder`, a DATA_DIR that this process owns. Its schema may be older. `onLogLost` as there.
 * @throws as {@link openSqliteRecords}
 */
export async function openInFolder(folder: string, onLogLost?: () => void): Promise<SqliteRecords> {
  await makePrivateFolder(join(folder, 'records'), (name) => OWN_FILES.test(name));
  return openSqliteRecords(join(folder, RECORDS_FILE), onLogLost);
}

/**
 * Brings the schema up to this program. Returns the path of the copy that was made before; null = there was nothing to
 * copy.
 * @throws ConfigError when the schema is newer; the error of the database
 */
export async function migrateInFolder(
  database: RecordsDatabase,
  folder: string,
  listener: MigrationListener,
): Promise<string | null> {
  const state = await readSchemaState(database.db);
  if (state.pending.length === 0) return null;
  let backup: string | null = null;
  await migrateTold(database.db, 'sqlite', state, listener, async () => {
    backup = await makeBackup(database, { folder, why: 'migration', now: listener.clock.wall() });
  });
  return backup;
}

function asConfigError(error: unknown, { DATA_DIR }: Settings): unknown {
  if (error instanceof ConfigError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ConfigError([
    `DATA_DIR: the records in ${JSON.stringify(DATA_DIR)} cannot be opened (${reason}): move ${RECORDS_FILE} away, ` +
      'or put a backup in its place',
  ]);
}

function withFoldersIn(folder: string, settings: Settings): Settings {
  const { BATCH_DIR, PROMPT_CACHE_DIR, UPLOAD_DIR } = settings;
  return Object.freeze({
    ...settings,
    BATCH_DIR: BATCH_DIR || join(folder, 'batches'),
    PROMPT_CACHE_DIR: PROMPT_CACHE_DIR || join(folder, 'prompts'),
    UPLOAD_DIR: UPLOAD_DIR || join(folder, 'uploads'),
  });
}
