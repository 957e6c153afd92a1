/**
 * Gives a folder one owner, a process. The owner listens on a Unix socket in the folder. When it dies, in whatever way,
 * the kernel refuses connections to the socket, even while the process is still a zombie. Process ids would not do:
 * they are reused, start again in each container, and a zombie keeps its own.
 *
 * When two processes want the same folder, each first creates a socket with a unique name (its claim) and then looks
 * for other claims, so at least one of them sees the other. A process that sees neither a claim nor an owner renames
 * its socket to the owner's name. Claims have names that are never reused, so a dead one can be removed without a race.
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
/** Tells people which process the owner is. */
const NOTE = 'owner.txt';
const NOTE_MAX_CHARS = 200;
const CLAIM = /^owner\.[0-9a-f-]{36}\.claim$/;

/** Errors of bind(2) and mknod(2) on a file system without sockets. */
const NO_SOCKETS = ['EPERM', 'ENOTSUP', 'ENOSYS'];

/** How long a start waits for an owner that may be about to end. */
const WAIT_MAX_MS = 10_000;
const POLL_PERIOD_MS = 100;
/**
 * How often, and at which interval, a process looks whether the other claims are gone. Together this is longer than a
 * process needs to withdraw its claim, unless the process is stopped.
 */
const RIVAL_LOOKS = 100;
const RIVAL_PERIOD_MS = 10;

/** The state of a socket: a process listens on it, none does, or there is no socket. */
type Presence = 'living' | 'dead' | 'absent';

/** The ownership of a folder by this process. */
export interface Ownership {
  /** Gives the folder up. The process must not touch anything in it afterwards. */
  release(): Promise<void>;
}

/**
 * This process cannot own a folder: another process owns it, or its file system has no sockets. `message` says which,
 * without the folder's name.
 */
export class FolderRefused extends Error {}

interface OwnOptions {
  readonly clock: Clock;
  /** Called once when the folder has another owner, `who`, and the wait begins. */
  readonly onWait?: (who: string) => void;
}

/**
 * Makes this process the owner of the existing `folder` until the ownership is released or the process ends. Waits 10 s
 * for another owner, which may be about to end.
 * @throws FolderRefused when the other owner stays, or the file system has no sockets; the system's error when files
 * cannot be created there
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
 * Whether the owner of `folder` is alive or dead, or the folder has none.
 * @throws the system's error when this cannot be determined, e.g. EACCES
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
    if ((await haveRivalsWithdrawn(folder, name, clock)) && (await presenceOf(folder, OWNER)) !== 'living')
      return await takeOver(folder, name, server);
  } catch (error) {
    await withdraw();
    // Another process took the claim for dead and removed it before this process listened on it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  await withdraw();
  return null;
}

function explainRefusal(error: NodeJS.ErrnoException): never {
  if (!NO_SOCKETS.includes(error.code ?? '')) throw error;
  throw new FolderRefused(`its file system has no Unix sockets (${error.code}): use a folder on a local disk`);
}

/** Only one process at a time gets here. */
async function takeOver(folder: string, name: string, server: Server): Promise<Ownership> {
  const { ino } = await lstat(join(folder, name), { bigint: true });
  // The note is only a hint for people: a full disk must not prevent the ownership.
  await writeNote(join(folder, NOTE)).catch(() => undefined);
  await rename(join(folder, name), join(folder, OWNER));
  return {
    release: async () => {
      // The socket is removed before it is closed, so that it is never mistaken for the next owner's. It may be another
      // process's, if somebody has removed ours.
      const found = await lstat(join(folder, OWNER), { bigint: true }).catch(() => null);
      if (found?.ino === ino) await rm(join(folder, OWNER), { force: true });
      server.close();
    },
  };
}

/**
 * Always creates a new file: an existing one may be a pipe, on which the open would block, or a link to a file that
 * must not be overwritten.
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

/** Whether all other claims are gone. Of several claims that see each other, the one with the lowest name wins. */
async function haveRivalsWithdrawn(folder: string, name: string, clock: Clock): Promise<boolean> {
  for (let looks = 0; looks < RIVAL_LOOKS; looks++) {
    const rivals = await rivalsOf(folder, name);
    if (rivals.length === 0) return true;
    if (rivals.some((rival) => rival < name)) return false;
    await sleep(clock, RIVAL_PERIOD_MS);
  }
  return false;
}

/** The claims of other living processes. Removes the claims of dead ones. */
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
  // The socket was closed before it accepted the connection.
  ECONNRESET: 'dead',
  // The path is not a socket, on systems that report this.
  ENOTSOCK: 'dead',
  ENOENT: 'absent',
  // The owner is stopped (SIGSTOP) and its queue of connections is full.
  EAGAIN: 'living',
};

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    // Later errors concern single connections, and for the other process a connection in the queue is enough.
    server.on('error', reject).unref();
    server.listen(path, () => resolve(server));
  });
}

/**
 * Windows has named pipes instead of sockets in folders. A pipe ends with its process, and a name can be taken only
 * once.
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
