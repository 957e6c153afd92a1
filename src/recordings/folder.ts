/** Finds the recordings in a folder and the folders in it, by what is in the files and never by their names. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { looksLikeRecording } from '../audio/detect.ts';
import { readHead } from './head.ts';

/** A recording that lies in a folder. */
export interface FoundFile {
  readonly path: string;
  /** Its path from the folder on. */
  readonly name: string;
}

interface Search {
  /** The folder, all links followed. */
  readonly root: string;
  /** Links out of this folder (all links followed) are left alone; null = they are followed. */
  readonly within: string | null;
  /** Folders outside of the root that links led to. */
  readonly visited: Set<string>;
}

/**
 * What may be recordings in `folder`, hidden ones too, in the order of their names. Something that cannot be looked at
 * is among them: whoever opens it learns why. A link to what lies in the folder anyway is passed over, and a folder
 * elsewhere is entered once, so the search ends whatever links there are. With `within`, links that lead out of that
 * folder are passed over.
 * @throws the system's error when `folder` cannot be read
 */
export async function* findRecordings(
  folder: string,
  within: string | null = null,
): AsyncGenerator<FoundFile, void, void> {
  const root = await realpath(folder);
  yield* searchFolder(root, '', { root, within: within === null ? null : await realpath(within), visited: new Set() });
}

async function* searchFolder(folder: string, name: string, search: Search): AsyncGenerator<FoundFile, void, void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = { path: join(folder, entry.name), name: name === '' ? entry.name : `${name}/${entry.name}` };
    const path = entry.isSymbolicLink() ? await followLink(found.path, search) : found.path;
    if (path !== null) yield* look({ ...found, path }, search);
  }
}

async function* look(found: FoundFile, search: Search): AsyncGenerator<FoundFile, void, void> {
  try {
    const kind = await stat(found.path);
    if (kind.isDirectory()) yield* searchFolder(found.path, found.name, search);
    else if (kind.isFile() && looksLikeRecording(await readHead(found.path))) yield found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    yield found;
  }
}

/** Where the link at `path` leads; null when there is nothing, or it is passed over. */
async function followLink(path: string, { root, within, visited }: Search): Promise<string | null> {
  const target = await realpath(path).catch(() => null);
  if (target === null || isWithin(target, root) || isWithin(root, target) || visited.has(target)) return null;
  if (within !== null && !isWithin(target, within)) return null;
  visited.add(target);
  return target;
}

/** Whether `path` is `folder` or lies in it; both with all links followed. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
