/** The folder that keeps a process's jobs. It has one owner. */
import { access, constants, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { isDiskTrouble } from '../foundation/folders/disk.ts';
import { FolderRefused, ownFolder } from '../foundation/folders/folder-owner.ts';
import { makePrivateFolder } from '../foundation/folders/folders.ts';
import { makeOwnFolder, removeLeftovers } from '../foundation/folders/own-folders.ts';

/** The file in which earlier versions noted the owner. */
const OLD_MARKER = 'owner.pid';
const TEMPORARY_PREFIX = 'trunkline-batches-';

/** An open data folder. */
export interface DataFolder {
  readonly folder: string;
  /** Gives the folder up, and removes it if it is temporary. */
  close(): Promise<void>;
}

/** The names in a data folder: the owner's files, the database's files, the clock's, and a folder for each batch. */
const OURS = /^(?:owner\.|batches\.sqlite|clock-believed$|[0-9a-f]{8}-[0-9a-f-]{27}$)/;

/** A folder that cannot be used; `message` says why, without the folder's name. */
export class DataFolderError extends Error {}

interface DataFolderOptions {
  readonly clock: Clock;
  /** Called once when the folder has another owner, which may be about to end. */
  readonly onWait?: (who: string) => void;
}

/**
 * Opens `folder`, or a new temporary folder when `folder` is empty.
 * @throws DataFolderError when another process owns it, or when it cannot be written to; the system's error when the
 * disk is full or fails
 */
export async function openDataFolder(folder: string, options: DataFolderOptions): Promise<DataFolder> {
  if (folder === '') {
    const { path, remove } = await makeOwnFolder(tmpdir(), TEMPORARY_PREFIX, options.clock);
    return { folder: path, close: remove };
  }
  try {
    await makePrivateFolder(folder, (name) => OURS.test(name));
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const ownership = await ownFolder(folder, options);
    await rm(join(folder, OLD_MARKER), { force: true });
    return { folder, close: () => ownership.release() };
  } catch (error) {
    throw isDiskTrouble(error) ? error : new DataFolderError(explain(error));
  }
}

/** Removes the temporary folders of killed processes. Never rejects. */
export function removeOldDataFolders(clock: Clock): Promise<void> {
  return removeLeftovers(tmpdir(), TEMPORARY_PREFIX, clock);
}

function explain(error: unknown): string {
  if (error instanceof FolderRefused) return error.message;
  return `it cannot be written to (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
}
