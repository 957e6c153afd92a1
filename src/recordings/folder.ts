/** Finds the recordings in a folder and its subfolders by the content of files, never by their names. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { looksLikeRecording } from '../audio/detect.ts';
import { readHead } from './head.ts';

/** A recording in a folder. */
export interface FoundFile {
  readonly path: string;
  /** Path relative to the folder. */
  readonly name: string;
}

interface Search {
  /** The folder's path with all links followed. */
  readonly root: string;
  /** Links that lead out of this folder (its path with all links followed) are skipped; null = none are skipped. */
  readonly within: string | null;
  /** Folders outside of the root that links have led to. */
  readonly visited: Set<string>;
}

/**
 * The files in `folder` that may be recordings, hidden ones too, in the order of their names. Files that cannot be read
 * are included: the caller gets the error when it opens them. A link to something in the folder is skipped, and a
 * folder elsewhere is entered once, so the search always ends. With `within`, links that lead out of that folder are
 * skipped.
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

/** The target of the link at `path`; null when there is none, or the link is skipped. */
async function followLink(path: string, { root, within, visited }: Search): Promise<string | null> {
  const target = await realpath(path).catch(() => null);
  if (target === null || isWithin(target, root) || isWithin(root, target) || visited.has(target)) return null;
  if (within !== null && !isWithin(target, within)) return null;
  visited.add(target);
  return target;
}

/** Whether `path` is `folder` or in it. Both must be paths with all links followed. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
