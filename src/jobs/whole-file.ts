/** Files that a reader sees all of or nothing, whenever the power fails. */
import { rename, writeFile } from 'node:fs/promises';

/** Writes `text` to `path`, by way of `draft` on the same file system, which is gone afterwards. */
export async function writeWhole(path: string, text: string, draft = `${path}.part`): Promise<void> {
  await writeFile(draft, text, { flush: true });
  await rename(draft, path);
}
