/** What is to be installed: a model of the table, or one of which an operator has a folder or a bundle. */
import { BRIDGE_FILE, type Bridge, isRecogniser } from '../../engine/models/bridge.ts';
import { type CatalogFile, type CatalogModel, findCatalogModel, type Package } from './catalog-model.ts';
import type { SuppliedModel } from './supplies.ts';

/** A model, and the bytes that it consists of. */
export interface Target {
  readonly name: string;
  readonly version: string;
  readonly about: string;
  readonly licence: string;
  /** What the licence asks of people who use it in business; null = nothing beside keeping the licence. */
  readonly obligation: string | null;
  /** Another model without which it does not work. */
  readonly needs: string | null;
  /** The setting by which it is used; null = it is used where it is installed. */
  readonly setting: 'ASR_MODEL' | 'ASR_FINAL_MODEL' | null;
  readonly files: readonly CatalogFile[];
  /** Taken where the operator has them. */
  readonly extras: readonly CatalogFile[];
  /** Where it is published: in archives, or file by file. Both empty = nobody publishes it that is known here. */
  readonly packages: readonly Package[];
  readonly addresses: readonly string[];
  /** Its `bridge.json` when it has `files`. */
  bridgeWith(files: readonly InstalledFile[]): Bridge;
}

/** A file that is in its place. */
export interface InstalledFile {
  readonly path: string;
  readonly sha256: string;
}

/**
 * The model `name`, of the table if it has it.
 * @throws Error when neither knows it, or they have different versions
 */
export function findTarget(
  name: string,
  catalog: readonly CatalogModel[],
  supplied: ReadonlyMap<string, SuppliedModel>,
): Target {
  const [known, found] = [findCatalogModel(catalog, name), supplied.get(name)];
  if (known !== undefined && found !== undefined && found.bridge.version !== known.version)
    throw new Error(
      `${name}: got version ${found.bridge.version}, expected ${known.version}, which this release knows`,
    );
  if (known !== undefined) return fromCatalog(known);
  if (found !== undefined) return fromBridge(found);
  const others = supplied.size === 0 ? '' : ` (it has ${[...supplied.keys()].join(', ')})`;
  throw new Error(
    `${name}: there is no such model: expected a name of trunkline models list, or --from with a folder of your own` +
      others,
  );
}

function fromCatalog(model: CatalogModel): Target {
  const { name, version, about, files, extras, packages, addresses, family, languages } = model;
  return {
    name,
    version,
    about,
    licence: `${model.licence}, ${model.owner}`,
    obligation: model.obligation ?? null,
    needs: model.needs ?? null,
    setting: model.setting ?? null,
    files,
    extras,
    packages,
    addresses,
    bridgeWith: (present) => bridgeOf({ family, name, version, languages, licence: model.licence }, present),
  };
}

function fromBridge({ bridge, bytes }: SuppliedModel): Target {
  const { name, version, licence } = bridge;
  const files = Object.entries(bridge.files).map(([path, sha256]) => {
    const size = bytes.get(path);
    if (size === undefined) throw new Error(`${name}: ${path} is missing, which its ${BRIDGE_FILE} names`);
    return { path, sha256, bytes: size };
  });
  return {
    name,
    version,
    about: `a model of your own, as its ${BRIDGE_FILE} has it`,
    licence,
    obligation: null,
    needs: null,
    setting: isRecogniser(bridge.family) ? 'ASR_MODEL' : null,
    files,
    extras: [],
    packages: [],
    addresses: [],
    bridgeWith: () => bridge,
  };
}

function bridgeOf(head: Omit<Bridge, 'format' | 'files'>, files: readonly InstalledFile[]): Bridge {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const { family, name, version, languages, licence } = head;
  const hashes = Object.fromEntries(sorted.map(({ path, sha256 }) => [path, sha256]));
  return { format: 1, family, name, version, languages, licence, files: hashes };
}
