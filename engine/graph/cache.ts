/**
 * Files that are made from other files and kept. Each set lies in a folder of its own, named after what it was made from, with a list of checksums in
 * the form of sha256sum(1). Several processes may make the same set at once: what they write is the same, and each file comes into place whole.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const SUMS = 'SHA256SUMS';
/** Characters of the hash that a folder is named by. */
const KEY_CHARS = 16;

/** A set of files to be had. */
export interface CachedSet {
  /** Where all sets lie; made when it is not there. */
  readonly cacheDir: string;
  /** What the set's folder is called before the hash. */
  readonly name: string;
  /** Paths of the files that it is made from. */
  readonly sources: readonly string[];
  /** Versions of the programs that make and read it. */
  readonly versions: string;
  /** Names of its files. */
  readonly files: readonly string[];
  /** Makes them, always the same for the same sources and versions. */
  build(folder: string): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Paths of the set's files, which are made if they are not there or damaged. @throws Error when they can be neither read nor written. */
export async function cachedFiles(set: CachedSet): Promise<string[]> {
  const folder = join(set.cacheDir, `${set.name}-${await keyOf(set)}`);
  if (!(await isWhole(folder, set.files))) {
    await makeFolder(folder);
    await fill(folder, await set.build(folder));
  }
  return set.files.map((name) => join(folder, name));
}

/** Node's own recursive mkdir never returns where the system calls a folder missing whose parent is there, as it does under /proc. */
async function makeFolder(path: string): Promise<void> {
  const code = await mkdir(path).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === null || code === 'EEXIST') return;
  if (code === 'ENOENT') await makeFolder(dirname(path));
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function keyOf({ sources, versions, files }: CachedSet): Promise<string> {
  const hash = createHash('sha256').update(`${versions}\n${files.join('\n')}\n`);
  for (const source of sources) hash.update(await sumOfFile(source));
  return hash.digest('hex').slice(0, KEY_CHARS);
}

async function isWhole(folder: string, files: readonly string[]): Promise<boolean> {
  try {
    const sums = new Set((await readFile(join(folder, SUMS), 'utf8')).split('\n'));
    for (const name of files) if (!sums.has(sumLine(await sumOfFile(join(folder, name)), name))) return false;
    return true;
  } catch {
    return false;
  }
}

/** Puts the files in place and their checksums last, so that a set with checksums is complete. */
async function fill(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  let sums = '';
  for (const [name, bytes] of files) {
    await putFile(folder, name, bytes);
    sums += `${sumLine(createHash('sha256').update(bytes).digest('hex'), name)}\n`;
  }
  await putFile(folder, SUMS, sums);
}

/** So many temporary files this process has begun. */
let unfinishedFiles = 0;

async function putFile(folder: string, name: string, content: Uint8Array | string): Promise<void> {
  const unfinished = join(folder, `${name}.${process.pid}-${++unfinishedFiles}.tmp`);
  try {
    await writeFile(unfinished, content);
    await rename(unfinished, join(folder, name));
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Reads in pieces: a model read whole would stay in the process's memory for a while. */
async function sumOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

function sumLine(sum: string, name: string): string {
  return `${sum}  ${name}`;
}
