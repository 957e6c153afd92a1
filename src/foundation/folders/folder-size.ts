/** How much of a disk something takes, and how much is left. */
import { lstat, opendir, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder with more entries is not counted to its end: that would take seconds. */
const ENTRIES_MAX = 50_000;

/** What a file or a folder takes. */
export interface FolderSize {
  readonly bytes: number;
  /** There were too many entries, so it takes more than `bytes`. */
  readonly isCut: boolean;
}

/** The bytes of all files in `path` and below, links not followed; 0 where nothing is there or it cannot be read. */
export async function sizeOf(path: string): Promise<FolderSize> {
  const count = { bytes: 0, entries: 0 };
  await addFolder(path, count);
  return { bytes: count.bytes, isCut: count.entries > ENTRIES_MAX };
}

/** Bytes that this user can still write on the disk of `path`; null where that cannot be told. */
export async function freeBytes(path: string): Promise<number | null> {
  const found = await statfs(path).catch(() => null);
  return found === null ? null : found.bavail * found.bsize;
}

async function addFolder(path: string, count: { bytes: number; entries: number }): Promise<void> {
  const folder = await opendir(path).catch(() => null);
  if (folder === null) return;
  for await (const entry of folder) {
    if (++count.entries > ENTRIES_MAX) return;
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await addFolder(inside, count);
    else count.bytes += (await lstat(inside).catch(() => null))?.size ?? 0;
  }
}
