/** The folder in which batches live: one gateway's alone. */
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where batches live, and whether that is for this gateway's life only. */
export interface Home {
  readonly folder: string;
  readonly isTemporary: boolean;
}

/** Opens BATCH_DIR, or a new temporary folder where that is empty. @throws Error when another living process has it, or when it cannot be written */
export async function openHome(folder: string): Promise<Home> {
  if (folder === '') return { folder: await mkdtemp(join(tmpdir(), 'trunkline-batches-')), isTemporary: true };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const marker = join(folder, 'gateway.pid');
  const owner = Number(await readFile(marker, 'utf8').catch(() => ''));
  if (owner > 0 && owner !== process.pid && isAlive(owner)) {
    throw new Error(`BATCH_DIR=${folder} is in use by process ${owner}; give each gateway a folder of its own`);
  }
  await writeFile(marker, String(process.pid));
  return { folder, isTemporary: false };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
