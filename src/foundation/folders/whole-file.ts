/** Files that a reader sees all of or nothing, whenever the power fails. */
import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * Writes `text` to `path`, by way of `draft` on the same file system, which is gone afterwards. @throws the system's
 * error
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
