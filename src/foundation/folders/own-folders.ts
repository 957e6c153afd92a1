/**
 * Folders that live as long as their process. When a process dies without removing its own, the next start removes it.
 */
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { ownerOf, ownFolder } from './folder-owner.ts';
import { isOwn } from './folders.ts';

/** A folder without an owner is unused when nothing in it has changed for this long: longer than any upload takes. */
const UNOWNED_MAX_MS = 86_400_000;

/** A folder that only this process uses. */
export interface OwnFolder {
  readonly path: string;
  /** Removes the folder and its contents. */
  remove(): Promise<void>;
}

/**
 * Creates a folder in `parent` whose name begins with `prefix`. On a file system without sockets the folder has no
 * owner, and another start removes it when nothing in it has changed for a day.
 * @throws the system's error when the folder cannot be created
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
 * Removes the folders in `parent` whose names begin with `prefix` and whose owners are dead, but no links and no
 * folders of other users. Never rejects.
 */
export async function removeLeftovers(parent: string, prefix: string, clock: Clock): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue;
    const path = join(parent, entry.name);
    if (await isLeftOver(path, clock).catch(() => false))
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isLeftOver(path: string, clock: Clock): Promise<boolean> {
  const found = await lstat(path);
  // Another user could replace the folder by a link to something that this user may remove.
  if (!isOwn(found)) return false;
  const presence = await ownerOf(path);
  return presence === 'dead' || (presence === 'absent' && clock.wall().getTime() - found.mtimeMs > UNOWNED_MAX_MS);
}
