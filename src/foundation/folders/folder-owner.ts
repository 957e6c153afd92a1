/**
 * Which folders belong to a living process. The kernel knows: the owner of a folder listens on a Unix socket in it, and
 * however it dies, connections are refused from then on, also while its parent has yet to take note of its death.
 * Process ids could not tell: they are given out again, begin anew in each container, and a zombie still has its own.
 *
 * Two that want the same folder at once: each first puts a socket of its own name there and then looks for those of
 * others, so that of two at least one sees the other. Who sees nobody, and no owner, renames its socket to the owner's.
 * No name but the owner's is ever used twice, so what is dead can be removed without a look at who may have come
 * meanwhile.
 */
import { createHash, randomUUID } from 'node:crypto';
import { chmod, lstat, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, sleep } from '../clock.ts';
import { PRIVATE_FILE_MODE, readOwnFile } from './folders.ts';
import { withSocketPath } from './socket-path.ts';

const OWNER = 'owner.sock';
/** For people: who the owner is. */
const NOTE = 'owner.txt';
const NOTE_MAX_CHARS = 200;
const CLAIM = /^owner\.[0-9a-f-]{36}\.claim$/;

/** What bind(2) and mknod(2) say of a file system without sockets. */
const NO_SOCKETS = ['EPERM', 'ENOTSUP', 'ENOSYS'];

/** How long a start waits for an owner that may be about to end. */
const WAIT_MAX_MS = 10_000;
const POLL_PERIOD_MS = 100;
/**
 * How long one of several that want a folder waits for the others to give way: longer than any of them takes, unless it
 * was stopped.
 */
const RIVAL_LOOKS = 100;
const RIVAL_PERIOD_MS = 10;

/** What a connection says of a socket: it is listened on, nobody does, or there is none. */
type Presence = 'living' | 'dead' | 'absent';

/** A folder that is this process's. */
export interface Ownership {
  /** Leaves it to others. Whoever had it touches nothing in it from then on. */
  release(): Promise<void>;
}

/**
 * A folder cannot be this process's: another living one has it, or it takes no sockets. `message` says which, without
 * the folder's name.
 */
export class FolderRefused extends Error {}

interface OwnOptions {
  readonly clock: Clock;
  /** Told once when a living owner is waited for; `who` says which. */
  readonly onWait?: (who: string) => void;
}

/**
 * Makes `folder`, which exists, this process's until it is released or the process ends. Waits some seconds for an
 * owner that may be about to end.
 * @throws FolderRefused when another lives on, or the file system takes no sockets; the system's error when nothing can
 * be put there
 */
export async function ownFolder(folder: string, { clock, onWait }: OwnOptions): Promise<Ownership> {
  const deadlineMs = clock.nowMs() + WAIT_MAX_MS;
  for (let isTold = false; ; isTold = true) {
    const ownership = await tryToOwn(folder, clock);
    if (ownership !== null) return ownership;
    const who =
      (await ownerOf(folder)) === 'living' ? await describeOwner(folder) : 'another process, which is about to take it';
    if (clock.nowMs() >= deadlineMs) throw new FolderRefused(`it is in use by ${who}`);
    if (!isTold) onWait?.(who);
    await sleep(clock, POLL_PERIOD_MS);
  }
}

/**
 * What a folder's owner says of it: a process lives that owns it, the one that owned it is dead, or nobody ever did.
 * @throws the system's error when that cannot be told, e.g. EACCES
 */
export function ownerOf(folder: string): Promise<Presence> {
  return presenceOf(folder, OWNER);
}

async function tryToOwn(folder: string, clock: Clock): Promise<Ownership | null> {
  if ((await presenceOf(folder, OWNER)) === 'living' || (await rivalsOf(folder, '')).length > 0) return null;
  if (process.platform === 'win32') return ownPipe(folder);
  const name = `owner.${randomUUID()}.claim`;
  const server = await withSocketPath(folder, name, listen).catch(explainRefusal);
  const withdraw = async (): Promise<void> => {
    await rm(join(folder, name), { force: true });
    server.close();
  };
  try {
    await chmod(join(folder, name), PRIVATE_FILE_MODE);
    if ((await hasGivenWay(folder, name, clock)) && (await presenceOf(folder, OWNER)) !== 'living')
      return await takeOver(folder, name, server);
  } catch (error) {
    await withdraw();
    // Another took it for dead between its birth and its first word.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  await withdraw();
  return null;
}

function explainRefusal(error: NodeJS.ErrnoException): never {
  if (!NO_SOCKETS.includes(error.code ?? '')) throw error;
  throw new FolderRefused(`its file system takes no Unix sockets (${error.code}); one on a disk of this machine does`);
}

/** Nobody else comes this far at the same time. */
async function takeOver(folder: string, name: string, server: Server): Promise<Ownership> {
  const { ino } = await lstat(join(folder, name), { bigint: true });
  // Without it, a full disk costs people a hint.
  await writeNote(join(folder, NOTE)).catch(() => undefined);
  await rename(join(folder, name), join(folder, OWNER));
  return {
    release: async () => {
      // While it is listened on, so that the next owner's is never taken for it; not one that is another's, put there
      // after somebody removed ours.
      const found = await lstat(join(folder, OWNER), { bigint: true }).catch(() => null);
      if (found?.ino === ino) await rm(join(folder, OWNER), { force: true });
      server.close();
    },
  };
}

/**
 * Always a new file: one that is there may be a pipe, which would be waited for, or a link to a file that is not ours
 * to write.
 */
async function writeNote(path: string): Promise<void> {
  await rm(path, { force: true });
  try {
    await writeFile(path, `process ${process.pid} on ${hostname()}\n`, { flag: 'wx', mode: PRIVATE_FILE_MODE });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Whether all others that want the folder have given way. Of those that see each other the one with the lowest name
 * stays.
 */
async function hasGivenWay(folder: string, name: string, clock: Clock): Promise<boolean> {
  for (let looks = 0; looks < RIVAL_LOOKS; looks++) {
    const rivals = await rivalsOf(folder, name);
    if (rivals.length === 0) return true;
    if (rivals.some((rival) => rival < name)) return false;
    await sleep(clock, RIVAL_PERIOD_MS);
  }
  return false;
}

/** The living that want the folder, beside `own`. What the dead among them left is removed. */
async function rivalsOf(folder: string, own: string): Promise<string[]> {
  const living: string[] = [];
  for (const name of await readdir(folder)) {
    if (!CLAIM.test(name) || name === own) continue;
    if ((await presenceOf(folder, name)) === 'living') living.push(name);
    else await rm(join(folder, name), { force: true });
  }
  return living;
}

async function describeOwner(folder: string): Promise<string> {
  const note = await readOwnFile(join(folder, NOTE)).catch(() => Buffer.alloc(0));
  return note.toString('utf8').split('\n', 1)[0]?.slice(0, NOTE_MAX_CHARS) || 'another process';
}

async function presenceOf(folder: string, name: string): Promise<Presence> {
  if (process.platform === 'win32') return tryConnection(await pipeOf(folder));
  return withSocketPath(folder, name, tryConnection);
}

function tryConnection(path: string): Promise<Presence> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve('living');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const presence = WHAT_ERRORS_SAY[error.code ?? ''];
      if (presence === undefined) reject(error);
      else resolve(presence);
    });
  });
}

const WHAT_ERRORS_SAY: Readonly<Record<string, Presence>> = {
  ECONNREFUSED: 'dead',
  // It was listened on, and closed before it accepted us.
  ECONNRESET: 'dead',
  // A file of that name, on systems that tell.
  ENOTSOCK: 'dead',
  ENOENT: 'absent',
  // So many have asked a stopped owner that its queue is full.
  EAGAIN: 'living',
};

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    // Later errors are those of single connections, which wait in the queue all the same.
    server.on('error', reject).unref();
    server.listen(path, () => resolve(server));
  });
}

/**
 * Windows has no sockets in folders, but pipes with names, which end with their process. One name has one first owner.
 */
async function ownPipe(folder: string): Promise<Ownership | null> {
  try {
    const server = await listen(await pipeOf(folder));
    return { release: async () => void server.close() };
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

async function pipeOf(folder: string): Promise<string> {
  return `\\\\.\\pipe\\trunkline-${createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')}`;
}
