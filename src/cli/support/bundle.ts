/** One file for whoever helps: a `.tar.gz`, with names and texts. */
import { lstat, open, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PRIVATE_FILE_MODE } from '../../foundation/folders/folders.ts';
import { TAR_BLOCK_BYTES, tarHeader, tarPadding } from '../../models/tar-format.ts';

const pack = promisify(gzip);
const PART_MAX_BYTES = 2_097_152;
const CUT = '\n… cut here: it is longer than 2 MiB\n';

/** One file in a bundle. */
export interface BundlePart {
  readonly name: string;
  /** For whoever looks what is sent. */
  readonly what: string;
  readonly text: string;
}

/** @throws Error when something is at `path` already */
export async function assertFree(path: string): Promise<void> {
  if ((await lstat(path).catch(() => null)) !== null) throw new Error(`${path} exists already: name another file`);
}

/**
 * Writes `parts`, each cut at 2 MiB, to a new file at `path` that its owner alone may read. Returns its bytes.
 * @throws the system's error, EEXIST when something is there
 */
export async function writeBundle(path: string, folder: string, parts: readonly BundlePart[]): Promise<number> {
  const blocks = parts.flatMap(({ name, text }) => {
    const bytes = bounded(text);
    return [tarHeader(`${folder}/${name}`, bytes.length), bytes, Buffer.alloc(tarPadding(bytes.length))];
  });
  // Two empty blocks end a tar file.
  const packed = await pack(Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK_BYTES)]));
  const file = await open(path, 'wx', PRIVATE_FILE_MODE);
  try {
    await file.writeFile(packed);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  return packed.length;
}

function bounded(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= PART_MAX_BYTES) return bytes;
  return Buffer.concat([bytes.subarray(0, PART_MAX_BYTES - Buffer.byteLength(CUT)), Buffer.from(CUT)]);
}
