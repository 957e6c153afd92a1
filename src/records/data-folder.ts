/** DATA_DIR: the folder of all that a gateway keeps. It has one owner. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { FolderRefused, ownFolder } from '../foundation/folders/folder-owner.ts';
import { makePrivateFolder } from '../foundation/folders/folders.ts';

/** The database in the folder. */
export const RECORDS_FILE = join('records', 'records.sqlite');

/** The names in the folder. Where models lie in it too, other users may have to read them. */
const OURS = /^(?:owner\.|records$|sound$|backups$|refused$|batches$|prompts$|uploads$)/;

/** An open folder. */
export interface DataFolder {
  readonly path: string;
  /** Gives it up. */
  close(): Promise<void>;
}

/** The folder cannot be used; `message` says why, without its name. */
export class DataFolderRefused extends Error {}

interface DataFolderOptions {
  readonly clock: Clock;
  /** Called once when the folder has another owner, which may be about to end. */
  readonly onWait?: (who: string) => void;
}

/**
 * Makes the folder at `path` where it is missing, and this process its owner.
 * @throws DataFolderRefused when another process owns it, or when it cannot be written to
 */
export async function openDataFolder(path: string, options: DataFolderOptions): Promise<DataFolder> {
  try {
    await makePrivateFolder(path, (name) => OURS.test(name));
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const ownership = await ownFolder(path, options);
    return { path, close: () => ownership.release() };
  } catch (error) {
    throw new DataFolderRefused(explain(error));
  }
}

function explain(error: unknown): string {
  if (error instanceof FolderRefused) return error.message;
  return `it cannot be written to (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
}
