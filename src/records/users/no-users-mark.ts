/**
 * An empty file beside the SQLite records that says that they have no users. It is gone before the first user is added,
 * so it never says so wrongly; where it is missing, there may be users.
 */
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE_MODE } from '../../foundation/folders/folders.ts';
import { RECORDS_FILE } from '../data-folder.ts';

const MARK = `${RECORDS_FILE}-no-users`;

/** Whether the records in `folder`, a DATA_DIR, may have users. They are not opened. */
export async function mayHaveUsers(folder: string): Promise<boolean> {
  return (await isThere(join(folder, RECORDS_FILE))) && !(await isThere(join(folder, MARK), false));
}

/** A disk that does not tell counts as `unknown`. */
async function isThere(path: string, unknown = true): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? false : unknown;
  }
}

/** Marks the records in `folder`. A disk that takes no file leaves them unmarked. */
export async function markNoUsers(folder: string): Promise<void> {
  await writeFile(join(folder, MARK), '', { mode: PRIVATE_FILE_MODE }).catch(() => undefined);
}

/** @throws the system's error; nobody may be added then */
export async function unmarkNoUsers(folder: string): Promise<void> {
  await rm(join(folder, MARK), { force: true });
}
