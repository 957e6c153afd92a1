/**
 * The models in the operator's folder, as `trunkline models` puts them there: one folder each, with a `bridge.json`.
 * Hashes are checked when a model is added and by `trunkline models verify`, not at each start.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  BRIDGE_FILE,
  BRIDGE_MAX_BYTES,
  type Bridge,
  BridgeError,
  type Family,
  isModelName,
  parseBridge,
} from './bridge.ts';

/** A model whose files are all there. */
export interface InstalledModel {
  /** As its folder is called. */
  readonly name: string;
  /** Absolute path. */
  readonly folder: string;
  readonly bridge: Bridge;
}

/** What lies in the operator's folder. */
export interface InstalledModels {
  /** In the order of their names. */
  readonly models: readonly InstalledModel[];
  /** One line for each folder that cannot be used: its name, and why. */
  readonly problems: readonly string[];
}

/** The usable models of `family` in `modelsDir` ('' = none), in the order of their names. */
export function findInstalled(modelsDir: string, family: Family): InstalledModel[] {
  return readInstalled(modelsDir).models.filter(({ bridge }) => bridge.family === family);
}

/** The usable model `name` in `modelsDir` ('' = none). */
export function findInstalledNamed(modelsDir: string, name: string): InstalledModel | undefined {
  return readInstalled(modelsDir).models.find((model) => model.name === name);
}

/** Everything in `modelsDir`; nothing where that is '' or does not exist. Names that no model can have are left out. */
export function readInstalled(modelsDir: string): InstalledModels {
  const models: InstalledModel[] = [];
  const problems: string[] = [];
  for (const name of namesIn(modelsDir)) {
    const folder = join(modelsDir, name);
    try {
      const bridge = readBridge(folder);
      const problem = bridge === null ? null : findProblem(name, folder, bridge);
      if (problem !== null) problems.push(`${name}: ${problem}`);
      else if (bridge !== null) models.push({ name, folder, bridge });
    } catch (error) {
      problems.push(`${name}: ${BRIDGE_FILE}: ${reasonOf(error)}`);
    }
  }
  return { models, problems };
}

function namesIn(modelsDir: string): string[] {
  if (modelsDir === '') return [];
  try {
    return readdirSync(modelsDir).filter(isModelName).sort();
  } catch {
    return [];
  }
}

/**
 * The `bridge.json` of `folder`; null where there is none.
 * @throws BridgeError; errors of the disk
 */
export function readBridge(folder: string): Bridge | null {
  const path = join(folder, BRIDGE_FILE);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile() || found.size > BRIDGE_MAX_BYTES)
    throw new BridgeError(`expected a file of at most ${BRIDGE_MAX_BYTES} bytes`);
  const bytes = Buffer.alloc(found.size);
  const file = openSync(path, 'r');
  try {
    return parseBridge(bytes.toString('utf8', 0, readSync(file, bytes)));
  } finally {
    closeSync(file);
  }
}

function findProblem(name: string, folder: string, { name: stated, files }: Bridge): string | null {
  if (stated !== name) return `its ${BRIDGE_FILE} is of ${stated}, expected ${name}`;
  const missing = Object.keys(files).find((file) => !isFile(join(folder, file)));
  return missing === undefined ? null : `${missing} is missing`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Why a folder could not be read, in a few words. */
export function reasonOf(error: unknown): string {
  if (error instanceof BridgeError) return error.message;
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
