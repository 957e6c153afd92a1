/** Folders that an operator named: made where they are not there yet. */
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes the folder `path`, with `mode`, and those above it where they are missing. Each by itself: Node's own recursive
 * mkdir never returns where the system calls a folder missing whose parent is there, as it does under /proc.
 * @throws the system's error, e.g. EACCES or ENOENT
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const code = await tryMake(path, mode);
  if (code !== 'ENOENT' || dirname(path) === path) return;
  await makeFolder(dirname(path), mode);
  await mkdir(path, { mode }).catch(unlessThere);
}

/** `ENOENT` when its parent is missing. */
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
 * Makes the folder `path` as {@link makeFolder} does, so that nobody else can enter it. One that is there already is
 * closed to others if it is ours and holds nothing but what `isOurs` knows by name: an operator may have named one that
 * is there for others too, such as `/tmp`.
 * @throws the system's error, e.g. EACCES or ENOENT
 */
export async function makePrivateFolder(path: string, isOurs: (name: string) => boolean): Promise<void> {
  await makeFolder(path, PRIVATE_FOLDER_MODE);
  const found = await stat(path);
  if (!isOwn(found) || (found.mode & OTHERS_MAY) === 0 || !(await readdir(path)).every(isOurs)) return;
  await chmod(path, PRIVATE_FOLDER_MODE);
}

/** Takes away what others may do with the file `path`, which is ours. @throws the system's error */
export async function closeToOthers(path: string): Promise<void> {
  if (((await lstat(path)).mode & OTHERS_MAY) !== 0) await chmod(path, PRIVATE_FILE_MODE);
}

/**
 * Reads a file that this user wrote. @throws the system's error; Error when it is a link, no file, or somebody else's
 */
export async function readOwnFile(path: string): Promise<Buffer> {
  // Without O_NONBLOCK a pipe of that name would be waited for.
  const file: FileHandle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || !isOwn(found)) throw new Error('the file is not ours');
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Whether something belongs to this user; always so where the system has no owners. */
export function isOwn({ uid }: Pick<Stats, 'uid'>): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}
