/** Where the records are that the `trunkline db` commands work on. */
import { systemClock } from '../../foundation/clock.ts';
import { ownerOf } from '../../foundation/folders/folder-owner.ts';
import { NO_FOLDER } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { openDataFolder } from '../../records/data-folder.ts';
import { openInFolder } from '../../records/open-records.ts';
import type { RecordsDatabase } from '../../records/records-database.ts';
import { localUrl, namedServer, ServerClient, type ServerFlags } from '../server-client.ts';

/** Options of all commands. */
export interface DatabaseFlags extends ServerFlags {
  readonly json?: boolean;
}

/** Where the records of `settings` are. */
export type Place =
  | { readonly kind: 'server'; readonly server: ServerClient }
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** The place of the records that `flags` and `settings` name. @throws Error when nothing is kept */
export async function placeOf(flags: DatabaseFlags, settings: Settings): Promise<Place> {
  const { DATA_DIR, DATABASE_URL } = settings;
  const { url, key } = namedServer(flags, settings);
  if (url !== '') return { kind: 'server', server: new ServerClient({ url, key }) };
  if (DATA_DIR !== NO_FOLDER && (await ownerOf(DATA_DIR).catch(() => 'absent')) === 'living')
    return { kind: 'server', server: new ServerClient({ url: localUrl(settings), key }) };
  if (DATABASE_URL !== '') return { kind: 'postgres', url: DATABASE_URL };
  if (DATA_DIR === NO_FOLDER) throw new Error(`nothing is kept of calls: DATA_DIR is ${NO_FOLDER}`);
  return { kind: 'folder', folder: DATA_DIR };
}

/** Opens the folder's database for `work`, without a server. */
export async function inFolder<T>(folder: string, work: (database: RecordsDatabase) => Promise<T>): Promise<T> {
  const dataFolder = await openDataFolder(folder, { clock: systemClock }).catch((error: Error) => {
    throw new Error(`${folder} cannot be used: ${error.message}`);
  });
  try {
    const database = await openInFolder(folder);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  } finally {
    await dataFolder.close();
  }
}
