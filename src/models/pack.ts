/** Writes installed models as one file for machines without a network: a tar file that `models add --from` takes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BRIDGE_FILE, formatBridge } from '../../engine/models/bridge.ts';
import type { InstalledModel } from '../../engine/models/installed.ts';
import { PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import type { OnBytes } from './pieces.ts';
import { TAR_BLOCK_BYTES, tarHeader, tarPadding } from './tar-format.ts';

/**
 * Writes `models` to a new file at `path`, which is whole or not there. Returns its bytes.
 * @throws Error when the file exists, or a file of a model has another SHA-256 than its `bridge.json` says; errors of
 * the disk
 */
export async function packModels(models: readonly InstalledModel[], path: string, onBytes: OnBytes): Promise<number> {
  if ((await lstat(path).catch(() => null)) !== null) throw new Error(`${path} exists already: name another file`);
  const draft = `${path}.part`;
  const file = await open(draft, 'w', PRIVATE_FILE_MODE);
  try {
    for (const model of models) await packModel(model, file, onBytes);
    // Two empty blocks end a tar file.
    await file.writeFile(Buffer.alloc(2 * TAR_BLOCK_BYTES));
    await file.sync();
    const { size } = await file.stat();
    await file.close();
    await rename(draft, path);
    return size;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function packModel({ name, folder, bridge }: InstalledModel, file: FileHandle, onBytes: OnBytes): Promise<void> {
  const head = Buffer.from(formatBridge(bridge));
  await file.writeFile(tarHeader(`${name}/${BRIDGE_FILE}`, head.length));
  await file.writeFile(padded(head));
  for (const [path, expected] of Object.entries(bridge.files)) {
    const { size } = await stat(join(folder, path));
    await file.writeFile(tarHeader(`${name}/${path}`, size));
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      await file.writeFile(chunk);
      bytes += chunk.length;
      onBytes(chunk.length);
    }
    if (bytes !== size || hash.digest('hex') !== expected)
      throw new Error(`${name}: ${path} has another SHA-256 than ${BRIDGE_FILE} says: trunkline models add ${name}`);
    await file.writeFile(Buffer.alloc(tarPadding(size)));
  }
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(tarPadding(bytes.length))]);
}
