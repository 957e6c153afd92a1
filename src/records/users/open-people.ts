import { resolve } from 'node:path';
import type { Kysely } from 'kysely';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { ConfigError, exposureWithoutUsers } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { FileError } from '../../foundation/yaml-text.ts';
import type { Tables } from '../tables.ts';
import { Passwords } from './passwords.ts';
import type { People } from './people.ts';
import { StoredSessions } from './stored-sessions.ts';
import type { Users } from './users.ts';
import { FileUsers } from './users-file.ts';
import { TableUsers } from './users-table.ts';

interface PeopleOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** The records'; null = nothing is kept. */
  readonly database: Kysely<Tables> | null;
}

/**
 * The users of USERS_FILE, else those of the records, and what checks their passwords.
 * @throws ConfigError when USERS_FILE cannot be used, or when others can reach the server and no secret keeps them out
 */
export async function openPeople(settings: Settings, { clock, log, database }: PeopleOptions): Promise<People> {
  const table = database === null ? null : await TableUsers.open(database);
  const users = settings.USERS_FILE === '' ? table : await openFile(resolve(settings.USERS_FILE), { clock, log });
  if (users !== table && table !== null && table.list.size > 0)
    log.warn({ users: table.list.size }, 'USERS_FILE is set, so the users in the records are not used');
  const exposure = exposureWithoutUsers(settings);
  if (exposure !== null && (users === null || users.list.size === 0)) {
    users?.close();
    throw new ConfigError([exposure]);
  }
  const passwords = new Passwords({ clock });
  return {
    users,
    passwords,
    sessions: database === null ? null : new StoredSessions(database),
    close: () => {
      users?.close();
      passwords.close();
    },
  };
}

async function openFile(path: string, options: Pick<PeopleOptions, 'clock' | 'log'>): Promise<Users> {
  try {
    return await FileUsers.open({ path, ...options });
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError([`USERS_FILE: ${error.message}`]);
    throw error;
  }
}
