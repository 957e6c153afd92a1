/** A recogniser's folder as somebody has downloaded it or made it: files without a `bridge.json`. */
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { BRIDGE_FILE, type Family, isModelName } from '../../engine/models/bridge.ts';
import { namesInFolder } from '../../engine/models/folder-names.ts';
import { findRecogniserFiles, type RecogniserFolder } from '../../engine/models/recogniser-folders.ts';
import { LANGUAGE_NAMES } from '../foundation/languages.ts';
import { sha256Of } from './checksum.ts';
import type { SuppliedModel } from './supplies.ts';

/** Opens the recogniser in a folder, an absolute path, and returns its languages. @throws Error that says why not */
export type OpenRecogniser = (folder: string) => Promise<readonly string[]>;

/** Largest file: those of the largest recogniser that is known have 2.4 GB. */
const FILE_MAX_BYTES = 4_000_000_000;
const LICENCE_FILES = ['LICENSE', 'LICENSE.txt', 'LICENSE.md', 'NOTICE'];
/** What `bridge.json` says where nobody has said it. */
const NO_LICENCE = 'not stated';
const FIRST_VERSION = '1';

/**
 * The recogniser in `folder`, to be called `name`; null where `folder` is no folder, or has a `bridge.json` of its own.
 * Its files are read once, and the engine has opened it.
 * @throws Error that names what is missing or wrong
 */
export async function readOwnFolder(name: string, folder: string, open: OpenRecogniser): Promise<SuppliedModel | null> {
  const names = readNames(folder);
  if (names === null || names.includes(BRIDGE_FILE)) return null;
  if (!isModelName(name))
    throw new Error(`${name}: expected lower-case letters, digits, dots and hyphens, at most 64 of them`);
  const { family, files } = requireWhole(folder, names);
  const kept = [...files, ...LICENCE_FILES.filter((file) => names.includes(file))].sort();
  const bytes = new Map<string, number>();
  for (const file of kept) bytes.set(file, await sizeOf(join(folder, file)));
  const languages = await open(resolve(folder)).catch((error: Error) => {
    throw new Error(`${folder}: the speech engine does not open it: ${error.message}`);
  });
  const hashes = new Map<string, string>();
  for (const file of kept) hashes.set(file, await sha256Of(join(folder, file)));
  const bridge = {
    format: 1,
    family,
    name,
    version: FIRST_VERSION,
    languages: languagesOf(name, family) ?? languages,
    licence: NO_LICENCE,
    files: Object.fromEntries(hashes),
  } as const;
  return { bridge, bytes };
}

function readNames(folder: string): readonly string[] | null {
  try {
    return namesInFolder(folder);
  } catch {
    return null;
  }
}

function requireWhole(folder: string, names: readonly string[]): RecogniserFolder {
  const found = findRecogniserFiles(names);
  if (found === null)
    throw new Error(
      `${folder}: it has a ${BRIDGE_FILE} of no model, and the files of no recogniser that this release knows: ` +
        'docs/guide/models.md has their names',
    );
  if (found.missing.length === 0) return found;
  throw new Error(`${folder}: it has files of ${found.family}, but lacks ${found.missing.join(', ')}`);
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path}: expected a file`);
  if (found.size <= FILE_MAX_BYTES) return found.size;
  throw new Error(`${basename(path)}: got ${found.size} bytes, expected at most ${FILE_MAX_BYTES}`);
}

/** A recogniser of one language can be told by its new name which one that is, as its files do not say it. */
function languagesOf(name: string, family: Family): readonly string[] | null {
  const last = name.split('-').at(-1) ?? '';
  return family.startsWith('moonshine') && last in LANGUAGE_NAMES ? [last] : null;
}
