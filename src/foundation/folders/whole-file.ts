/** Writes files atomically: a reader sees the whole file or none, even after a power cut. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { PRIVATE_FILE_MODE } from './folders.ts';

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

/**
 * As {@link writeWhole}, a file that nobody else may read. `content` may come in pieces.
 * @throws the system's error, or that of `content`
 */
export async function writePrivate(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  draft = `${path}.part`,
): Promise<void> {
  try {
    await writeFile(draft, content, { flush: true, mode: PRIVATE_FILE_MODE });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
