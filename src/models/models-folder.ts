/**
 * The folder of installed models, for those who change it. One command at a time does; what it makes lies in `.work`
 * until it is whole, so a command that is killed leaves no half model and the next one goes on with what it had.
 */
import { lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { BRIDGE_FILE, type Bridge } from '../../engine/models/bridge.ts';
import { readBridge } from '../../engine/models/installed.ts';
import { systemClock } from '../foundation/clock.ts';
import { FolderRefused, type Ownership, ownFolder } from '../foundation/folders/folder-owner.ts';
import { makeFolder } from '../foundation/folders/folders.ts';
import { NO_FOLDER } from '../foundation/settings/config.ts';

const WORK = '.work';
const PRIVATE_FOLDER_MODE = 0o700;

/** Where one model is made, under {@link withModelsFolder}. */
export interface Workplace {
  /** Bytes that were collected, by their SHA-256. */
  readonly pieces: string;
  /** Packages that were fetched. */
  readonly downloads: string;
  /** The new model's folder before it is moved to its place. */
  readonly model: string;
  /** The model that was in its place, for a moment. */
  readonly old: string;
}

/** The folder of the settings. @throws Error when they want none */
export function requireModelsDir({ MODELS_DIR }: { readonly MODELS_DIR: string }): string {
  if (MODELS_DIR !== NO_FOLDER) return MODELS_DIR;
  throw new Error(`MODELS_DIR=${NO_FOLDER}: set it to a folder, or unset it`);
}

/**
 * Runs `work` as the only command that changes `modelsDir`, which is created if need be. `onWait` is told who else is
 * at work, while that is waited for.
 * @throws Error that names the folder and what helps; what `work` throws
 */
export async function withModelsFolder<T>(
  modelsDir: string,
  onWait: (who: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  let ownership: Ownership;
  try {
    await makeFolder(join(modelsDir, WORK), PRIVATE_FOLDER_MODE);
    ownership = await ownFolder(join(modelsDir, WORK), { clock: systemClock, onWait });
  } catch (error) {
    throw explainFolder(error, modelsDir);
  }
  try {
    for (const name of await readdir(join(modelsDir, WORK))) await recover(modelsDir, name);
    return await work();
  } catch (error) {
    throw explainFolder(error, modelsDir);
  } finally {
    await ownership.release();
  }
}

/** Where the model `name` is made. */
export function workplaceOf(modelsDir: string, name: string): Workplace {
  const own = join(modelsDir, WORK, name);
  return {
    pieces: join(own, 'pieces'),
    downloads: join(own, 'downloads'),
    model: join(own, 'model'),
    old: join(own, 'old'),
  };
}

/** Empties and creates the folder in which a model is put together. @throws errors of the disk */
export async function makeModelFolder({ model }: Workplace, files: readonly string[]): Promise<void> {
  await rm(model, { recursive: true, force: true });
  for (const folder of new Set(['.', ...files.map((file) => dirname(file))]))
    await makeFolder(join(model, folder), PRIVATE_FOLDER_MODE);
}

/** Moves the finished model `name` to its place and tidies up. @throws errors of the disk */
export async function putInPlace(modelsDir: string, name: string): Promise<void> {
  const { model, old } = workplaceOf(modelsDir, name);
  const place = join(modelsDir, name);
  if (await exists(place)) await rename(place, old);
  await rename(model, place);
  await recover(modelsDir, name);
  await removeWork(modelsDir, name);
}

/** Forgets what was collected for the model `name`. @throws errors of the disk */
export async function removeWork(modelsDir: string, name: string): Promise<void> {
  await rm(join(modelsDir, WORK, name), { recursive: true, force: true });
}

/**
 * Removes the files of `bridge` from `folder`, its `bridge.json` last, and the folders that are empty then. Returns
 * what is left there.
 * @throws errors of the disk
 */
export async function removeModel(folder: string, bridge: Bridge): Promise<string[]> {
  const files = Object.keys(bridge.files);
  for (const file of files) await rm(join(folder, file), { force: true });
  await rm(join(folder, BRIDGE_FILE), { force: true });
  const folders = new Set(files.map((file) => dirname(file)).filter((path) => path !== '.'));
  for (const path of [...folders].sort().reverse()) await rmdir(join(folder, path)).catch(() => undefined);
  const left = await filesIn(folder);
  if (left.length === 0) await rmdir(folder).catch(() => undefined);
  return left;
}

/** The paths of all files in `folder` and below, with `/`. @throws errors of the disk */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/**
 * Ends what a killed command began: a model that was moved aside comes back, unless the new one is in its place. What
 * others have put into the old folder is taken over.
 */
async function recover(modelsDir: string, name: string): Promise<void> {
  const { old } = workplaceOf(modelsDir, name);
  if (!(await exists(old))) return;
  const place = join(modelsDir, name);
  if (!(await exists(place))) {
    await rename(old, place);
    return;
  }
  const own = filesOfBridge(old);
  for (const file of await filesIn(old)) {
    if (own.includes(file) || file === BRIDGE_FILE || (await exists(join(place, file)))) continue;
    await mkdir(dirname(join(place, file)), { recursive: true });
    await rename(join(old, file), join(place, file));
  }
  await rm(old, { recursive: true, force: true });
}

/** None where the `bridge.json` cannot be read: all files are others' then. */
function filesOfBridge(folder: string): string[] {
  try {
    return Object.keys(readBridge(folder)?.files ?? {});
  } catch {
    return [];
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: 'it belongs to another user: set MODELS_DIR to a folder of yours',
  EPERM: 'it belongs to another user: set MODELS_DIR to a folder of yours',
  EROFS: 'its file system is read-only: set MODELS_DIR to another folder',
  ENOTDIR: 'a part of its path is a file: set MODELS_DIR to another folder',
  EEXIST: 'there is a file of that name: set MODELS_DIR to another folder',
  ENOSPC: 'the disk is full: make room, or set MODELS_DIR to a folder on another disk',
  EDQUOT: 'the quota is used up: make room, or set MODELS_DIR to a folder on another disk',
};

function explainFolder(error: unknown, modelsDir: string): unknown {
  if (error instanceof FolderRefused)
    return new Error(`${modelsDir}: ${error.message}: one command at a time can change it`);
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  const remedy = REMEDIES[code];
  return remedy === undefined ? error : new Error(`${modelsDir} cannot be written (${code}): ${remedy}`);
}
