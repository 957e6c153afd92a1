/**
 * Who could have written a file. A model file is a program, so files are used only if no other user than this one and
 * root can have written them.
 */
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, open, stat } from 'node:fs/promises';

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;

/**
 * Why another user could have written a file or folder; null = none could. `ourUid` is undefined where the system has
 * no user ids.
 */
export function findOwnershipProblem(
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  ourUid: number | undefined,
): string | null {
  if (ourUid === undefined) return null;
  if (uid !== ourUid && uid !== 0) return `belongs to another user (uid ${uid})`;
  if ((mode & OTHERS_WRITE) !== 0) return 'can be written by everybody';
  if ((mode & GROUP_WRITES) !== 0) return 'can be written by its group';
  return null;
}

/**
 * Checks that no other user can write a folder. If it is ours and our group can write it because of a wide umask, the
 * group's permission is removed.
 * @throws Error when another user could have written into it, or still could
 */
export async function requireOwned(path: string): Promise<void> {
  const found = await stat(path);
  if (!found.isDirectory()) return;
  const ourUid = process.getuid?.();
  if (found.uid === ourUid && (found.mode & OTHERS_WRITE) === 0 && (found.mode & GROUP_WRITES) !== 0) {
    await chmod(path, found.mode & ~GROUP_WRITES & 0o7777);
    return;
  }
  const problem = findOwnershipProblem(found, ourUid);
  if (problem !== null) throw new Error(`nothing in ${path} is used: it ${problem}`);
}

/**
 * Opens a file for reading. Its owner is checked after it is open, so that it cannot be exchanged in between.
 * @throws Error when it is a link or no file, or when another user could have written it
 */
export async function openOwned(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK the call would wait for the writer of a pipe of that name.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = await file.stat();
  const problem = found.isFile() ? findOwnershipProblem(found, process.getuid?.()) : 'is no file';
  if (problem === null) return file;
  await file.close();
  throw new Error(`${path} ${problem}`);
}
