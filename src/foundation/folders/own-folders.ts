/**
 * Folders for as long as a process lives: each has its owner, and what the dead leave behind is removed by whoever
 * starts next.
 */
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { ownerOf, ownFolder } from './folder-owner.ts';
import { isOwn } from './folders.ts';

/** Of a folder that names no owner only its age tells that nobody is at work in it: longer than any upload may take. */
const UNOWNED_MAX_MS = 86_400_000;

/** A folder of this process alone. */
export interface OwnFolder {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
}

/**
 * Makes a folder in `parent` whose name begins with `prefix`. Where the file system takes no sockets it has no owner,
 * and would be removed by another start when nothing in it has changed for a day. @throws the system's error when there
 * can be none
 */
export async function makeOwnFolder(parent: string, prefix: string, clock: Clock): Promise<OwnFolder> {
  const path = await mkdtemp(join(parent, prefix));
  const ownership = await ownFolder(path, { clock }).catch(() => null);
  return {
    path,
    remove: async () => {
      try {
        await rm(path, { recursive: true, force: true });
      } finally {
        await ownership?.release();
      }
    },
  };
}

/**
 * Removes the folders in `parent` whose names begin with `prefix` and whose owners are dead. Passes over other users'
 * folders and links. Never rejects.
 */
export async function removeLeftovers(parent: string, prefix: string, clock: Clock): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue;
    const path = join(parent, entry.name);
    // What cannot be told or removed stays.
    if (await isLeftOver(path, clock).catch(() => false))
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isLeftOver(path: string, clock: Clock): Promise<boolean> {
  const found = await lstat(path);
  // Its owner could put a link in place of it, and have us remove what that leads to.
  if (!isOwn(found)) return false;
  const presence = await ownerOf(path);
  return presence === 'dead' || (presence === 'absent' && clock.wall().getTime() - found.mtimeMs > UNOWNED_MAX_MS);
}
