/** Folders that an operator named: made where they are not there yet. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes the folder `path`, with `mode`, and those above it where they are missing. Each by itself: Node's own recursive mkdir never returns where the system
 * calls a folder missing whose parent is there, as it does under /proc.
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
