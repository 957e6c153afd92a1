/** Writes files atomically: a reader sees the whole file or none, even after a power cut. */
import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * Writes `text` to the file `draft`, which must be on the same file system, and renames that to `path`.
 * @throws the system's error
 */
export async function writeWhole(path: string, text: string, draft = `${path}.part`): Promise<void> {
  try {
    await writeFile(draft, text, { flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
