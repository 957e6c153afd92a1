/** Which recogniser a setting means: one that is in the npm packages, an installed one, or a folder of the operator. */
import { type Stats, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { Refusal } from '../refusal.ts';
import { BRIDGE_FILE, type Bridge, BridgeError } from './bridge.ts';
import { namesInFolder } from './folder-names.ts';
import { findInstalledNamed, readBridge, reasonOf } from './installed.ts';
import { type ModelTable, modelsOf, type RecogniserRow } from './model-table.ts';
import { findRecogniserFiles } from './recogniser-folders.ts';

/** A graph has at most so many, for both its formats count in 31 bits; what is larger is kept beside it. */
const GRAPH_MAX_BYTES = 2 ** 31 - 1;
const GRAPH = /\.(?:onnx|ort)$/;

/** A recogniser that can be loaded. */
export interface FoundRecogniser {
  readonly row: RecogniserRow;
  /** Absolute path; null = it is in the npm packages. */
  readonly folder: string | null;
  /** What its folder says of itself; null where it says nothing, as published folders do. */
  readonly bridge: Bridge | null;
}

/** Where a recogniser is wanted. */
interface Wanted {
  /** The folder of installed models; '' = there is none. */
  readonly modelsDir: string;
  /** The setting that names it. */
  readonly setting: string;
}

/**
 * @param wanted a recogniser of the table, the name of an installed model, or an absolute path
 * @throws Refusal `model_missing` when there is none, `bad_settings` when it is no recogniser
 */
export function findRecogniser(table: ModelTable, wanted: string, where: Wanted): FoundRecogniser {
  const found = find(table, wanted, where);
  if (found.folder !== null) checkFiles(found.folder);
  return found;
}

function find(table: ModelTable, wanted: string, { modelsDir, setting }: Wanted): FoundRecogniser {
  const rows = modelsOf(table, 'recogniser');
  const packaged = rows.find(({ name, family }) => family === null && name === wanted);
  if (packaged !== undefined) return { row: packaged, folder: null, bridge: null };
  if (isAbsolute(wanted)) return lookInto(rows, wanted);
  const installed = findInstalledNamed(modelsDir, wanted);
  if (installed === undefined) throw missing(rows, { wanted, modelsDir, setting });
  const { folder, bridge } = installed;
  return { row: requireFamily(rows, bridge, wanted), folder, bridge };
}

function lookInto(rows: readonly RecogniserRow[], folder: string): FoundRecogniser {
  const { files, bridge } = read(folder);
  if (bridge !== null) return { row: requireFamily(rows, bridge, folder), folder, bridge };
  const row = rows.find(({ family }) => family?.isLaidOut(files));
  if (row !== undefined) return { row, folder, bridge };
  const names = rows.flatMap(({ family }) => (family === null ? [] : [family.name]));
  throw new Refusal(
    'bad_settings',
    `${folder} has the files of no recogniser, and no bridge.json; expected a folder of ${names.join(' or ')}`,
  );
}

/**
 * Opening a pipe never ends, and reading what is no graph takes long before it is known.
 * @throws Refusal for a file that can be none of a recogniser's
 */
function checkFiles(folder: string): void {
  for (const name of findRecogniserFiles(namesInFolder(folder))?.files ?? []) {
    const path = join(folder, name);
    const found = look(path);
    if (found === undefined) throw new Refusal('model_missing', `${path} is a link to nothing`);
    if (!found.isFile()) throw new Refusal('bad_settings', `${path} is no file`);
    if (GRAPH.test(name) && found.size > GRAPH_MAX_BYTES)
      throw new Refusal('bad_settings', `${path}: got ${found.size} bytes, expected at most ${GRAPH_MAX_BYTES}`);
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new Refusal('model_missing', `${path} cannot be read: ${reasonOf(error)}`);
  }
}

function read(folder: string): { readonly files: readonly string[]; readonly bridge: Bridge | null } {
  try {
    return { files: namesInFolder(folder), bridge: readBridge(folder) };
  } catch (error) {
    if (error instanceof BridgeError)
      throw new Refusal('bad_settings', `${join(folder, BRIDGE_FILE)}: ${error.message}`);
    throw new Refusal('model_missing', `${folder} cannot be read: ${reasonOf(error)}`);
  }
}

function requireFamily(rows: readonly RecogniserRow[], { family }: Bridge, wanted: string): RecogniserRow {
  const row = rows.find((each) => each.family?.name === family);
  if (row !== undefined) return row;
  throw new Refusal('bad_settings', `${wanted} is a model of the family ${family}, expected a recogniser`);
}

function missing(rows: readonly RecogniserRow[], { wanted, modelsDir, setting }: Wanted & { wanted: string }): Refusal {
  const packaged = rows.flatMap(({ name, family }) => (family === null ? [name] : []));
  const place = modelsDir === '' ? 'and MODELS_DIR names no folder' : `or a model that is installed in ${modelsDir}`;
  return new Refusal(
    'model_missing',
    `${setting}: got ${JSON.stringify(wanted)}, expected one of ${packaged.join(', ')}, ${place}; ` +
      'trunkline models list has the names',
  );
}
