/**
 * A cache of files that are built from other files. Each set lies in its own folder, which is named after the sources,
 * with a list of checksums in the format of sha256sum(1). Several processes may build the same set at once: they write
 * the same bytes, and each file is moved into place when it is complete. Files that another user could have written are
 * not used (`ownership.ts`).
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openOwned, requireOwned } from './ownership.ts';

const SUMS = 'SHA256SUMS';
/** Characters of the hash that a folder is named by. */
const KEY_CHARS = 16;

/** A set of cached files. */
export interface CachedSet {
  /** The folder of all sets; created when it is missing. */
  readonly cacheDir: string;
  /** The first part of the folder's name; the hash follows. */
  readonly name: string;
  /** Paths of the files that the set is built from. */
  readonly sources: readonly string[];
  /** Versions of the programs that build and read the set. */
  readonly versions: string;
  /** Names of the set's files. */
  readonly files: readonly string[];
  /** Builds the files. The same sources and versions always give the same bytes. */
  build(folder: string): Promise<ReadonlyMap<string, Uint8Array>>;
}

/**
 * The open files of a set. The paths lead to the files that were checked, even if others are moved to their names. The
 * caller closes them.
 */
export interface CachedFiles {
  /** In the order of {@link CachedSet.files}. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

/**
 * Opens the set's files; builds them first if they are missing or damaged.
 * @throws Error when they can be neither read nor written, or when other users could write them.
 */
export async function cachedFiles(set: CachedSet): Promise<CachedFiles> {
  const folder = join(set.cacheDir, `${set.name}-${await keyOf(set)}`);
  for (const path of [set.cacheDir, folder]) {
    await makeFolder(path);
    await requireOwned(path);
  }
  const there = await openWhole(folder, set.files);
  if (there !== null) return there;
  await fill(folder, await set.build(folder));
  const made = await openWhole(folder, set.files);
  if (made === null) throw new Error(`${folder} does not keep what is written to it`);
  return made;
}

/** All users may read the files: they hold nothing private. */
const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;

/**
 * Creates a folder and those above it. Not Node's recursive mkdir: it never returns where the system reports ENOENT
 * although the parent exists, as it does under /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  const code = await mkdir(path, { mode: FOLDER_MODE }).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === null || code === 'EEXIST') return;
  if (code === 'ENOENT') await makeFolder(dirname(path));
  await mkdir(path, { mode: FOLDER_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function keyOf({ sources, versions, files }: CachedSet): Promise<string> {
  const hash = createHash('sha256').update(`${versions}\n${files.join('\n')}\n`);
  for (const source of sources) hash.update(await sumOfFile(source));
  return hash.digest('hex').slice(0, KEY_CHARS);
}

/** Null unless all files exist, belong to us and are undamaged. */
async function openWhole(folder: string, names: readonly string[]): Promise<CachedFiles | null> {
  const opened: FileHandle[] = [];
  const close = async () => {
    for (const file of opened) await file.close();
  };
  try {
    const sums = await readSums(join(folder, SUMS));
    for (const name of names) {
      const file = await openOwned(join(folder, name));
      opened.push(file);
      if (!sums.has(sumLine(await sumOfFile(pathOf(file, name, folder)), name))) throw new Error(`${name} is damaged`);
    }
  } catch {
    await close();
    return null;
  }
  return { paths: opened.map((file, index) => pathOf(file, names[index] ?? '', folder)), close };
}

async function readSums(path: string): Promise<Set<string>> {
  const file = await openOwned(path);
  try {
    return new Set((await file.readFile('utf8')).split('\n'));
  } finally {
    await file.close();
  }
}

/** On Linux the path of the open file itself, see proc(5); elsewhere its name in the folder. */
function pathOf(file: FileHandle, name: string, folder: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : join(folder, name);
}

/** Writes the files, and their checksums last, so that a set with checksums is complete. */
async function fill(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  let sums = '';
  for (const [name, bytes] of files) {
    await putFile(folder, name, bytes);
    sums += `${sumLine(createHash('sha256').update(bytes).digest('hex'), name)}\n`;
  }
  await putFile(folder, SUMS, sums);
}

async function putFile(folder: string, name: string, content: Uint8Array | string): Promise<void> {
  const unfinished = join(folder, `${name}.${randomUUID()}.tmp`);
  try {
    await writeFile(unfinished, content, { flag: 'wx', mode: FILE_MODE });
    await rename(unfinished, join(folder, name));
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Reads in pieces: a whole model would stay in the process's memory for a while. */
async function sumOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

function sumLine(sum: string, name: string): string {
  return `${sum}  ${name}`;
}
