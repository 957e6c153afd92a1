/** Whether installed models are what was published: every file is read and its SHA-256 compared. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BRIDGE_FILE, type Bridge } from '../../engine/models/bridge.ts';
import { type CatalogModel, findCatalogModel } from './catalog-model.ts';
import { sha256Of } from './checksum.ts';
import { filesIn } from './models-folder.ts';
import type { OnBytes } from './pieces.ts';

/** What is wrong with an installed model. */
export interface Flaws {
  /** One line for each file that is missing or has other bytes. */
  readonly wrong: readonly string[];
  /** Files that its `bridge.json` does not name: nobody reads them. */
  readonly unknown: readonly string[];
}

/**
 * Compares the files in `folder` with `bridge`, and that with the table: by size alone where the table has it, with
 * `hashes` by SHA-256.
 * @throws errors of the disk
 */
export async function findFlaws(
  folder: string,
  bridge: Bridge,
  catalog: readonly CatalogModel[],
  { hashes, onBytes = () => undefined }: { readonly hashes: boolean; readonly onBytes?: OnBytes },
): Promise<Flaws> {
  const published = findPublished(bridge, catalog);
  const wrong: string[] = [];
  for (const file of published?.files ?? [])
    if (!(file.path in bridge.files)) wrong.push(`${file.path}: ${BRIDGE_FILE} does not name it`);
  for (const [path, sha256] of Object.entries(bridge.files)) {
    const found = await stat(join(folder, path)).catch(() => null);
    const known = [...(published?.files ?? []), ...(published?.extras ?? [])].find((file) => file.path === path);
    if (found?.isFile() !== true) wrong.push(`${path}: missing`);
    else if (known !== undefined && 'sha256' in known && known.sha256 !== sha256)
      wrong.push(`${path}: not the one that was published`);
    else if (known !== undefined && known.bytes !== found.size)
      wrong.push(`${path}: got ${found.size} bytes, expected ${known.bytes}`);
    else if (hashes && (await sha256Of(join(folder, path))) !== sha256) wrong.push(`${path}: has another SHA-256`);
    onBytes(found?.size ?? 0);
  }
  const own = [...Object.keys(bridge.files), BRIDGE_FILE];
  return { wrong, unknown: (await filesIn(folder)).filter((file) => !own.includes(file)) };
}

/** Bytes of the files that `bridge` names and that are in `folder`. */
export async function installedBytes(folder: string, bridge: Bridge): Promise<number> {
  let bytes = 0;
  for (const path of Object.keys(bridge.files)) bytes += (await stat(join(folder, path)).catch(() => null))?.size ?? 0;
  return bytes;
}

/** The row of the model in this version; of another one nothing is known. */
function findPublished({ name, version }: Bridge, catalog: readonly CatalogModel[]): CatalogModel | undefined {
  const model = findCatalogModel(catalog, name);
  return model?.version === version ? model : undefined;
}
