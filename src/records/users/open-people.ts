import { resolve } from 'node:path';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { ConfigError, exposureWithoutUsers } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { FileError } from '../../foundation/yaml-text.ts';
import type { Records } from '../records.ts';
import { Passwords } from './passwords.ts';
import type { People } from './people.ts';
import { StoredSessions } from './stored-sessions.ts';
import type { Users } from './users.ts';
import { FileUsers } from './users-file.ts';
import { TableUsers } from './users-table.ts';

interface PeopleOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Null = nothing is kept. */
  readonly records: Pick<Records, 'database' | 'sqliteFolder'> | null;
  /** There may be users in records that could not be opened. */
  readonly mayHaveUsers: boolean;
}

/**
 * The users of USERS_FILE, else those of the records, and what checks their passwords.
 * @throws ConfigError when USERS_FILE cannot be used, or when others can reach the server and no secret keeps them out
 */
export async function openPeople(settings: Settings, options: PeopleOptions): Promise<People> {
  const { clock, log, records } = options;
  const database = records?.database.db ?? null;
  const table = records === null ? null : await openTable(records, log);
  const users = settings.USERS_FILE === '' ? table : await openFile(resolve(settings.USERS_FILE), { clock, log });
  if (users !== table && table !== null && table.list.size > 0)
    log.warn({ users: table.list.size }, 'USERS_FILE is set, so the users in the records are not used');
  const exposure = exposureWithoutUsers(settings);
  if (exposure !== null && (users === null || users.list.size === 0)) {
    users?.close();
    throw new ConfigError([exposure]);
  }
  const areUnreadable = () => options.mayHaveUsers && (users === null || (users === table && !table.isRead));
  if (areUnreadable() && settings.API_KEYS.length === 0)
    log.error({}, 'users may be in DATA_DIR, but cannot be read: /v1 is refused to everybody until they can');
  const passwords = new Passwords({ clock });
  return {
    users,
    get areUnreadable() {
      return areUnreadable();
    },
    passwords,
    sessions: database === null ? null : new StoredSessions(database),
    refresh: async () => {
      if (users === table && table?.isRead === true) await table.reload();
    },
    close: () => {
      users?.close();
      passwords.close();
    },
  };
}

/** Users of records that are not open yet are read when they are. */
async function openTable(
  { database, sqliteFolder }: Pick<Records, 'database' | 'sqliteFolder'>,
  log: Pick<Log, 'error'>,
): Promise<TableUsers> {
  if (database.isOpen) return TableUsers.open(database.db, sqliteFolder);
  const table = TableUsers.unread(database.db, sqliteFolder);
  void database.opened
    .then(() => table.load())
    .catch((err: unknown) => log.error({ err }, 'the users in DATA_DIR cannot be read'));
  return table;
}

async function openFile(path: string, options: Pick<PeopleOptions, 'clock' | 'log'>): Promise<Users> {
  try {
    return await FileUsers.open({ path, ...options });
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError([`USERS_FILE: ${error.message}`]);
    throw error;
  }
}
