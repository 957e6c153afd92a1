/** The folder in which jobs live: one process's alone. */
import { access, constants, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePrivateFolder } from '../folders.ts';

/** Where jobs live, and whether that is for this process's life only. */
export interface Home {
  readonly folder: string;
  readonly isTemporary: boolean;
}

/** What lies in a home: whose it is, the database and what belongs to it, and a folder for each batch. */
const OURS = /^(?:owner\.|batches\.sqlite|[0-9a-f]{8}-[0-9a-f-]{27}$)/;

/** A folder that cannot be a home; `message` says why, without the folder's name. */
export class HomeError extends Error {}

/** Opens `folder`, or a new temporary folder where that is empty. @throws HomeError when another living process has it, or when it cannot be written */
export async function openHome(folder: string): Promise<Home> {
  if (folder === '') return { folder: await mkdtemp(join(tmpdir(), 'trunkline-batches-')), isTemporary: true };
  const marker = join(folder, 'owner.pid');
  try {
    await makePrivateFolder(folder, (name) => OURS.test(name));
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const [owner = '', birth = ''] = (await readFile(marker, 'utf8').catch(() => '')).split(' ');
    if (Number(owner) !== process.pid && (await lives(Number(owner), birth))) throw new HomeError(`it is in use by process ${owner}`);
    await writeFile(`${marker}.part`, `${process.pid} ${await birthOf(process.pid)}`);
    await rename(`${marker}.part`, marker);
  } catch (error) {
    throw error instanceof HomeError ? error : new HomeError(`it cannot be written to (${codeOf(error)})`);
  }
  return { folder, isTemporary: false };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

/** Whether process `pid` lives that was born at `birth`, and not another that was given its number after a restart. */
async function lives(pid: number, birth: string): Promise<boolean> {
  if (!(pid > 0) || (await birthOf(pid)) !== birth) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When process `pid` was started, in the kernel's ticks (proc_pid_stat(5), starttime); empty where that cannot be known. */
async function birthOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
