/** Fetches the files of a model from its publisher's addresses, one by one. */
import { join } from 'node:path';
import { makeFolder } from '../foundation/folders/folders.ts';
import { type CatalogFile, keyOf } from './catalog-model.ts';
import { DownloadError, download } from './download.ts';
import { FetchFailed, type FetchOptions } from './packages.ts';

/**
 * Fetches `file` into `folder` from the first of `addresses` that has it, and goes on where an earlier try ended.
 * Returns its path.
 * @throws FetchFailed; errors of the disk; the reason of the signal
 */
export async function fetchFile(
  file: CatalogFile,
  addresses: readonly string[],
  folder: string,
  options: FetchOptions,
): Promise<string> {
  await makeFolder(folder, 0o700);
  const path = join(folder, keyOf(file));
  const reasons: string[] = [];
  for (const address of addresses) {
    const { host } = new URL(address);
    options.onTry(host);
    try {
      await download({ ...options, url: `${address}/${file.path}`, path, known: file });
      return path;
    } catch (error) {
      if (!(error instanceof DownloadError)) throw error;
      reasons.push(`${host}: ${error.message}`);
    }
  }
  throw new FetchFailed(file.path, reasons);
}

/** What people type to get `files` into `folder` on another machine; nothing where there is no address. */
export function commandForFiles(
  files: readonly CatalogFile[],
  [address]: readonly string[],
  folder: string,
): readonly string[] {
  if (address === undefined) return [];
  const names = files.map(({ path }) => path).join(',');
  return [`curl -fL --create-dirs --output-dir ${folder} -O '${address}/{${names}}'`];
}
