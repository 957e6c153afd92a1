/** Where `trunkline user` finds the users: in a running server, in USERS_FILE, or in the folder or database. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../../foundation/clock.ts';
import { createLog } from '../../foundation/log/log.ts';
import { Metrics } from '../../foundation/metrics.ts';
import { ConfigError, NO_FOLDER } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { openRecords } from '../../records/open-records.ts';
import { type NewUser, UserAdministration, type WantedChange } from '../../records/users/administration.ts';
import { Passwords } from '../../records/users/passwords.ts';
import { roleName, type User } from '../../records/users/user.ts';
import type { Users } from '../../records/users/users.ts';
import { EditableUsersFile } from '../../records/users/users-file-editor.ts';
import { TableUsers } from '../../records/users/users-table.ts';
import { localUrl, type ServerAddress, ServerClient } from '../server-client.ts';

/** A server on this machine answers at once. */
const PROBE_MS = 1000;

/** A user, as the commands show one. */
export type ShownUser = Pick<User, 'name' | 'kind' | 'role' | 'agent'>;

/** The users, wherever they are. */
export interface UserPlace {
  /** For people: `the server at http://…`. */
  readonly name: string;
  list(): Promise<readonly ShownUser[]>;
  /** Without a password the user is a key; `key` is the generated one. */
  add(user: NewUser): Promise<{ user: ShownUser; key: string | null }>;
  change(name: string, change: WantedChange): Promise<ShownUser>;
  remove(name: string): Promise<ShownUser>;
  close(): Promise<void>;
}

/**
 * The server at `url`; else USERS_FILE; else the server that runs on this machine; else the records, while no server
 * has them.
 * @throws ConfigError when they cannot be opened, or there is no place for users
 */
export async function openUsers(settings: Settings, { url, key }: ServerAddress): Promise<UserPlace> {
  if (url !== '') return serverPlace(new ServerClient({ url, key }));
  if (settings.USERS_FILE !== '') {
    const path = resolve(settings.USERS_FILE);
    return localPlace(path, await EditableUsersFile.open(path), settings, async () => undefined);
  }
  const here = new ServerClient({ url: localUrl(settings), key });
  if (await here.isThere(PROBE_MS)) return serverPlace(here);
  return openRecordedUsers(settings);
}

async function openRecordedUsers(settings: Settings): Promise<UserPlace> {
  if (settings.DATA_DIR === NO_FOLDER && settings.DATABASE_URL === '')
    throw new ConfigError(['there is no place for users: set DATA_DIR, DATABASE_URL or USERS_FILE']);
  const log = createLog('error', process.stderr);
  // A folder that is in use or cannot be written to must end the command, also the default one.
  const wanted = { ...settings, isDataDirDefault: false };
  const opened = await openRecords({ settings: wanted, clock: systemClock, log, metrics: new Metrics() });
  if (opened.records === null) {
    await opened.close();
    throw new ConfigError(['the records cannot be opened: the disk is full or fails']);
  }
  const { database, sqliteFolder } = opened.records;
  const users = await TableUsers.open(database.db, sqliteFolder);
  return localPlace(database.place, users, settings, () => opened.close());
}

function localPlace(name: string, users: Users, { API_KEYS }: Settings, close: () => Promise<void>): UserPlace {
  const clock = systemClock;
  const passwords = new Passwords({ clock });
  const hasKeys = API_KEYS.length > 0;
  const administration = new UserAdministration({ users, passwords, clock, hasKeys, isOffline: true });
  return {
    name,
    list: async () => users.list.all.map(shownOf),
    add: async (wanted) => {
      const { user, key } = await administration.add(wanted);
      return { user: shownOf(user), key };
    },
    change: async (user, change) => shownOf(await administration.change(user, change)),
    remove: async (user) => shownOf(await administration.remove(user)),
    close: async () => {
      passwords.close();
      users.close();
      await close();
    },
  };
}

/** Without the secret. */
function shownOf({ name, kind, role, agent }: User): ShownUser {
  return { name, kind, role, agent };
}

const shown = z.object({
  name: z.string(),
  kind: z.enum(['person', 'key']),
  role: roleName,
  agent: z.string().nullable(),
});
const USERS_PATH = '/v1/admin/users';

function serverPlace(server: ServerClient): UserPlace {
  const pathOf = (name: string) => `${USERS_PATH}/${encodeURIComponent(name)}`;
  return {
    name: `the server at ${server.url}`,
    list: async () => (await server.ask('GET', USERS_PATH, z.object({ data: z.array(shown) }))).data,
    add: async ({ password, ...user }) => {
      const secret = password === undefined ? { key: true } : { password };
      const schema = shown.extend({ key: z.string().optional() });
      const { key = null, ...added } = await server.ask('POST', USERS_PATH, schema, { ...user, ...secret });
      return { user: added, key };
    },
    change: (name, change) => server.ask('PATCH', pathOf(name), shown, change),
    remove: (name) => server.ask('DELETE', pathOf(name), shown),
    close: async () => undefined,
  };
}
