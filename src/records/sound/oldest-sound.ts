import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TrunklineError } from '../../foundation/errors.ts';
import { HEADER_MAX_BYTES, readHeader } from './sound-format.ts';
import { isSoundName, type SoundOwner } from './sound-paths.ts';

/** A file of sound, and whose it is. */
export interface OldestSound extends SoundOwner {
  readonly bytes: number;
}

const NUMBER = /^\d+$/;

/** The file of the call that began first; null = there is none. Folders of days and files sort by their names. */
export async function findOldest(folder: string): Promise<OldestSound | null> {
  for (const year of await sorted(folder, NUMBER))
    for (const month of await sorted(join(folder, year), NUMBER))
      for (const day of await sorted(join(folder, year, month), NUMBER)) {
        const found = await firstOf(join(folder, year, month, day));
        if (found !== null) return found;
      }
  return null;
}

async function firstOf(day: string): Promise<OldestSound | null> {
  for (const name of (await sorted(day, null)).filter(isSoundName)) {
    const path = join(day, name);
    const owner = await ownerOf(path);
    if (owner !== null) return { ...owner, bytes: (await stat(path)).size };
  }
  return null;
}

/** Null = the file says nothing of the kind. */
async function ownerOf(path: string): Promise<SoundOwner | null> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_MAX_BYTES), 0, HEADER_MAX_BYTES, 0);
    const { callId, startedMs } = readHeader(buffer.subarray(0, bytesRead)).header;
    return { callId, startedMs };
  } catch (error) {
    if (error instanceof TrunklineError) return null;
    throw error;
  } finally {
    await file.close();
  }
}

async function sorted(folder: string, names: RegExp | null): Promise<string[]> {
  const found = await readdir(folder).catch(() => []);
  return found.filter((name) => names?.test(name) ?? true).toSorted();
}
