/**
 * Who could have written a file. A model file of somebody else's making is a program of somebody else's choosing, so
 * files are taken only where nobody but this user and root can have written them.
 */
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, open, stat } from 'node:fs/promises';

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;

/**
 * Why what lies at a path is not ours alone; null = it is. `ourUid` is undefined where the system has no such thing.
 */
export function strangerOf({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, ourUid: number | undefined): string | null {
  if (ourUid === undefined) return null;
  if (uid !== ourUid && uid !== 0) return `belongs to another user (uid ${uid})`;
  if ((mode & OTHERS_WRITE) !== 0) return 'can be written by everybody';
  if ((mode & GROUP_WRITES) !== 0) return 'can be written by its group';
  return null;
}

/**
 * Checks that a folder is ours alone. One that is ours, and that our group can write because of a wide umask, is closed
 * to the group.
 * @throws Error when somebody else could have put something into it, or could still
 */
export async function requireOwned(path: string): Promise<void> {
  const found = await stat(path);
  if (!found.isDirectory()) return;
  const ourUid = process.getuid?.();
  if (found.uid === ourUid && (found.mode & OTHERS_WRITE) === 0 && (found.mode & GROUP_WRITES) !== 0) {
    await chmod(path, found.mode & ~GROUP_WRITES & 0o7777);
    return;
  }
  const stranger = strangerOf(found, ourUid);
  if (stranger !== null) throw new Error(`nothing in ${path} is used, for it ${stranger}`);
}

/**
 * Opens a file for reading. It is looked at once it is open, so that it cannot be exchanged in between.
 * @throws Error when it is a link or no file, or when somebody else could have written it
 */
export async function openOwned(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK a pipe of that name would be waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = await file.stat();
  const stranger = found.isFile() ? strangerOf(found, process.getuid?.()) : 'is no file';
  if (stranger === null) return file;
  await file.close();
  throw new Error(`${path} ${stranger}`);
}
