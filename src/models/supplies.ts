/** What an operator gives: a wheel, an npm package, a bundle, a single file, or a folder of any of these. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BRIDGE_FILE, BRIDGE_MAX_BYTES, type Bridge, BridgeError, parseBridge } from '../../engine/models/bridge.ts';
import { readBounded } from '../foundation/bounded-body.ts';
import { type ArchiveKind, archiveKind, type Entry, entriesOf } from './archives.ts';
import { ArchiveError } from './zip-format.ts';

const DEPTH_MAX = 5;
const FILES_MAX = 20_000;
/** Gzipped files are archives by these names only: models have gzipped files of their own. */
const GZIPPED_TAR = /\.(tgz|tar\.gz)$/i;

/** A model of which a supply has a `bridge.json`. */
export interface SuppliedModel {
  readonly bridge: Bridge;
  /** Bytes of its files by their paths; those that are missing are not in it. */
  readonly bytes: ReadonlyMap<string, number>;
}

/**
 * The files in `path`, those of archives in it among them.
 * @throws Error that names what cannot be read, and why
 */
export async function* suppliesIn(path: string): AsyncGenerator<Entry> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path}: ${error.code === 'ENOENT' ? 'there is no such file or folder' : error.code}`);
  });
  if (!found.isDirectory()) {
    yield* fileOrArchive(path, basename(path), found.size);
    return;
  }
  let files = 0;
  for await (const file of filesIn(path, '', 0)) {
    files++;
    if (files > FILES_MAX) throw new Error(`${path}: it has more than ${FILES_MAX} files: name the one that is meant`);
    yield* fileOrArchive(join(path, file.path), file.path, file.bytes);
  }
}

/** The models that `paths` have a `bridge.json` of, by name: the first of each. @throws Error as {@link suppliesIn} */
export async function suppliedModels(paths: readonly string[]): Promise<Map<string, SuppliedModel>> {
  const models = new Map<string, SuppliedModel>();
  for (const path of paths) {
    const bytes = new Map<string, number>();
    const bridges = new Map<string, Bridge>();
    for await (const entry of suppliesIn(path)) {
      bytes.set(entry.path, entry.bytes);
      if (basename(entry.path) === BRIDGE_FILE) bridges.set(entry.path, await readBridgeOf(entry, path));
    }
    for (const [at, bridge] of bridges) {
      if (models.has(bridge.name)) continue;
      const folder = at.slice(0, -BRIDGE_FILE.length);
      const own = Object.keys(bridge.files).flatMap((file) => {
        const size = bytes.get(folder + file);
        return size === undefined ? [] : [[file, size] as const];
      });
      models.set(bridge.name, { bridge, bytes: new Map(own) });
    }
  }
  return models;
}

async function readBridgeOf(entry: Entry, path: string): Promise<Bridge> {
  const bytes = entry.bytes > BRIDGE_MAX_BYTES ? null : await readBounded(entry.read(), BRIDGE_MAX_BYTES);
  try {
    if (bytes === null) throw new BridgeError(`expected at most ${BRIDGE_MAX_BYTES} bytes`);
    return parseBridge(Buffer.from(bytes).toString('utf8'));
  } catch (error) {
    throw error instanceof BridgeError ? new Error(`${path}: ${entry.path}: ${error.message}`) : error;
  }
}

async function* filesIn(root: string, folder: string, depth: number): AsyncGenerator<{ path: string; bytes: number }> {
  const names = await readdir(join(root, folder)).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${join(root, folder)}: it cannot be read (${error.code})`);
  });
  for (const name of names.sort()) {
    const path = folder === '' ? name : `${folder}/${name}`;
    const found = await stat(join(root, path)).catch(() => null);
    if (found?.isFile() === true) yield { path, bytes: found.size };
    else if (found?.isDirectory() === true && depth < DEPTH_MAX) yield* filesIn(root, path, depth + 1);
  }
}

async function* fileOrArchive(file: string, path: string, bytes: number): AsyncGenerator<Entry> {
  try {
    const kind = await archiveKind(file);
    if (isArchive(kind, file)) yield* entriesOf(file, kind, bytes);
    else yield { path, bytes, read: () => createReadStream(file) };
  } catch (error) {
    throw explain(error, file);
  }
}

function isArchive(kind: ArchiveKind | null, file: string): kind is ArchiveKind {
  return kind === 'gzip' ? GZIPPED_TAR.test(file) : kind !== null;
}

/** An error of zlib or of the disk has a code; ours says what is wrong. */
function explain(error: unknown, file: string): unknown {
  if (error instanceof ArchiveError) return new Error(`${file}: ${error.message}`);
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code?.startsWith('Z_')) return new Error(`${file}: it is damaged (${code})`);
  return ['EACCES', 'EIO', 'EPERM'].includes(code ?? '') ? new Error(`${file}: it cannot be read (${code})`) : error;
}
