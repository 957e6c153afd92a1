/** Creates and protects folders that the settings name. */
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates the folder `path` with `mode`, and its missing parents. It does not use Node's recursive mkdir, which loops
 * for ever where mkdir fails with ENOENT although the parent exists, as under /proc.
 * @throws the system's error, e.g. EACCES or ENOENT
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const code = await tryMake(path, mode);
  if (code !== 'ENOENT' || dirname(path) === path) return;
  await makeFolder(dirname(path), mode);
  await mkdir(path, { mode }).catch(unlessThere);
}

/** Returns `ENOENT` when the parent is missing. */
async function tryMake(path: string, mode: number): Promise<'ENOENT' | null> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'ENOENT';
    unlessThere(error);
  }
  return null;
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

const PRIVATE_FOLDER_MODE = 0o700;
/** The mode of a file that nobody else may read. */
export const PRIVATE_FILE_MODE = 0o600;

const OTHERS_MAY = 0o077;

/**
 * Creates the folder `path` as {@link makeFolder} does, closed to other users. An existing folder is closed to them
 * only if this user owns it and `isOurs` accepts every name in it: the setting may name a shared folder such as `/tmp`.
 * @throws the system's error, e.g. EACCES or ENOENT
 */
export async function makePrivateFolder(path: string, isOurs: (name: string) => boolean): Promise<void> {
  await makeFolder(path, PRIVATE_FOLDER_MODE);
  const found = await stat(path);
  if (!isOwn(found) || (found.mode & OTHERS_MAY) === 0 || !(await readdir(path)).every(isOurs)) return;
  await chmod(path, PRIVATE_FOLDER_MODE);
}

/** Removes the rights of other users to the file `path` of this user. @throws the system's error */
export async function closeToOthers(path: string): Promise<void> {
  if (((await lstat(path)).mode & OTHERS_MAY) !== 0) await chmod(path, PRIVATE_FILE_MODE);
}

/**
 * Reads a file of this user.
 * @throws the system's error, also for a link; Error when it is not a regular file or belongs to another user
 */
export async function readOwnFile(path: string): Promise<Buffer> {
  // Without O_NONBLOCK the open would block on a pipe.
  const file: FileHandle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || !isOwn(found)) throw new Error('the file is not ours');
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Whether this user owns the file; true where the system has no owners. */
export function isOwn({ uid }: Pick<Stats, 'uid'>): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}
