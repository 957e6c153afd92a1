/**
 * Weights that engine processes share. onnxruntime lays weights out anew for the processor when it opens a graph, in
 * memory that belongs to one process. Here it writes them to a file once, in the cache, and every process maps that
 * file: its pages are in memory once. When it opens the file, it lays each weight out again and compares; where that
 * differs, as on another processor, it keeps its own.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { basename, join } from 'node:path';
import { makeFolder } from './graph/cache.ts';
import { openOwned, requireOwned } from './graph/ownership.ts';
import { graphBytes } from './models/graph-bytes.ts';
import { isWorthSharing } from './models/process-memory.ts';
import { weightsBeside } from './models/recogniser-folders.ts';
import { creationOf, openGraph, openSession, type SessionOptions } from './onnx.ts';
import { env, InferenceSession } from './onnxruntime.ts';
import { Refusal } from './refusal.ts';
import { sleep } from './time.ts';

/** How a graph is opened. */
export interface PackedOptions extends SessionOptions {
  /** The folder of all caches; created when it is missing. */
  readonly cacheDir: string;
  /** Is told what takes a while. */
  readonly progress: (text: string) => void;
  /** Whether a graph of so many bytes is worth it; others are opened as they are. */
  readonly isWorthIt?: (bytes: number) => boolean;
  /** How long another process that writes the same files is waited for. */
  readonly waitMaxMs?: number;
}

/** A graph that is open. */
export interface PackedSession {
  readonly session: InferenceSession;
  /** Why its weights are this process's own; null = they are shared, or not worth it. */
  readonly warning: string | null;
}

/** The file has each weight twice: as it was, to compare with, and laid out. */
const ROOM_TIMES = 2.5;
const WAIT_MAX_MS = 30_000;
const POLL_MS = 200;

const GRAPH = 'graph.onnx';
const WEIGHTS = 'graph.data';
const SIZES = 'sizes.json';
const PREFIX = 'packed-';
const KEY_CHARS = 16;
const FOLDER_MODE = 0o755;

/**
 * Opens the graph at `path` with shared weights where that is worth it and works, on Linux and a CPU; otherwise as it
 * is.
 * @throws as `openSession`
 */
export async function openPacked(path: string, options: PackedOptions): Promise<PackedSession> {
  const bytes = graphBytes(path);
  const { device, isWorthIt = isWorthSharing } = options;
  if (device.provider !== 'cpu' || !isWorthIt(bytes))
    return { session: await openSession(path, options), warning: null };
  try {
    const folder = await packedFolder(path, bytes, options);
    return { session: await openFolder(folder, options), warning: null };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const warning = `each engine process has the weights of ${basename(path)} for itself: ${reason}`;
    return { session: await openSession(path, options), warning };
  }
}

async function openFolder(folder: string, options: SessionOptions): Promise<InferenceSession> {
  const file = await openOwned(join(folder, GRAPH));
  try {
    return await openGraph(await file.readFile(), folder, options);
  } finally {
    await file.close();
  }
}

/** The folder with the files of `path`, which are written if they are not there. */
async function packedFolder(path: string, bytes: number, options: PackedOptions): Promise<string> {
  const { cacheDir } = options;
  await makeFolder(cacheDir);
  await requireOwned(cacheDir);
  const source = `${PREFIX}${hashOf(path)}-`;
  const folder = join(cacheDir, `${source}${keyOf(path)}`);
  const lock = `${folder}.lock`;
  for (let left = options.waitMaxMs ?? WAIT_MAX_MS; ; left -= POLL_MS) {
    if (await isWhole(folder)) return folder;
    if (await takeLock(lock)) break;
    if (left <= 0) throw new Error(`another process has not finished ${folder}`);
    await sleep(POLL_MS);
  }
  try {
    // It may have been written between the look and the lock.
    if (await isWhole(folder)) return folder;
    await removeOthers(cacheDir, source, basename(folder));
    await requireRoom(cacheDir, bytes);
    options.progress(`laying out the weights of ${basename(path)} in a file that engines share, once, in ${folder}`);
    await write(path, folder, options);
  } finally {
    await rm(lock, { force: true });
  }
  if (!(await isWhole(folder))) throw new Error(`${folder} does not keep what is written to it`);
  return folder;
}

/** What the laid-out weights depend on: the files, onnxruntime and the processor. */
function keyOf(path: string): string {
  const files = [path, ...weightsBeside(path)].flatMap((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found === undefined ? [] : [[file, found.ino, found.size, found.mtimeMs]];
  });
  return hashOf(JSON.stringify([files, env.versions.common, processorName()]));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, KEY_CHARS);
}

/** Its model and what it can do. */
function processorName(): string {
  const flags = /^flags\s*:.*$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[0] ?? '';
  return `${cpus()[0]?.model ?? ''} ${flags}`;
}

/** Whether all files are there, belong to us and have the sizes that were written. */
async function isWhole(folder: string): Promise<boolean> {
  try {
    await requireOwned(folder);
    const sizes = JSON.parse(await readFile(join(folder, SIZES), 'utf8')) as Record<string, number>;
    for (const name of [GRAPH, WEIGHTS]) {
      const file = await openOwned(join(folder, name));
      const { size } = await file.stat();
      await file.close();
      if (size !== sizes[name]) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Whether the lock is ours now; that of a process that has ended is taken away from it. */
async function takeLock(lock: string): Promise<boolean> {
  const mine = await writeFile(lock, nameOfProcess('self') ?? '', { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  if (mine) return true;
  const owner = await readFile(lock, 'utf8').catch(() => '');
  // A lock without an owner was just made.
  if (owner !== '' && nameOfProcess(owner.split(' ')[0] ?? '') !== owner) await rm(lock, { force: true });
  return false;
}

/**
 * Number of a process and when it began, in ticks since the system's start (proc(5)): numbers are given again, after a
 * new start of the system above all. Null = there is none.
 */
function nameOfProcess(pid: string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the program's name, which may have spaces, are the fields from the third on; the 22nd is the time.
    return `${Number.parseInt(stat, 10)} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return null;
  }
}

async function requireRoom(cacheDir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(cacheDir);
  const [free, needed] = [bavail * bsize, bytes * ROOM_TIMES].map((value) => Math.round(value / 2 ** 20));
  if (bavail * bsize < bytes * ROOM_TIMES)
    throw new Error(`${cacheDir} has ${free} MB left, expected ${needed} MB (MODEL_CACHE_DIR)`);
}

/** What was made of the same file before it changed, or by a process that ended in the middle. */
async function removeOthers(cacheDir: string, source: string, kept: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (name.startsWith(source) && !name.startsWith(kept)) await rm(join(cacheDir, name), { recursive: true });
    if (name.startsWith(kept) && name.endsWith('.part')) await rm(join(cacheDir, name), { recursive: true });
  }
}

/** onnxruntime writes the graph as it runs it, and the weights as they were and laid out. */
async function write(path: string, folder: string, options: SessionOptions): Promise<void> {
  const part = `${folder}.${randomUUID()}.part`;
  await mkdir(part, { mode: FOLDER_MODE });
  try {
    const session = await InferenceSession.create(path, {
      ...creationOf(options),
      optimizedModelFilePath: join(part, GRAPH),
      // It warns that the graph is for this processor alone, which the key sees to.
      logSeverityLevel: 3,
      extra: {
        session: {
          save_external_prepacked_constant_initializers: '1',
          optimized_model_external_initializers_file_name: WEIGHTS,
          optimized_model_external_initializers_min_size_in_bytes: '1024',
        },
      },
    });
    await session.release();
    const sizes = await Promise.all([GRAPH, WEIGHTS].map(async (name) => [name, (await stat(join(part, name))).size]));
    await writeFile(join(part, SIZES), JSON.stringify(Object.fromEntries(sizes)));
    await rm(folder, { recursive: true, force: true });
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
