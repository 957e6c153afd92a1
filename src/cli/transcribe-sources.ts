/** Finds the recordings at the paths of the command line, and names their transcripts. */
import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { findRecordings } from '../recordings/folder.ts';
import { describeReadError } from './audio-file.ts';

/** A recording. */
export interface SourceFile {
  /** Its path with all links resolved. */
  readonly path: string;
  /** Its name in messages. */
  readonly shown: string;
  /** Its path relative to the folder on the command line, or its own name. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** The recordings that the command line names. */
export interface Sources {
  readonly files: readonly SourceFile[];
  /** Paths that cannot be read, and why. */
  readonly unreadable: readonly { readonly shown: string; readonly why: string }[];
}

/** The recordings at `paths`, which are files or folders. Each recording is found once. */
export async function findSources(paths: readonly string[]): Promise<Sources> {
  const files = new Map<string, SourceFile>();
  const unreadable: { shown: string; why: string }[] = [];
  for (const given of paths) {
    for await (const { path, shown, name } of candidatesAt(given)) {
      try {
        const file = await lookAt(path);
        files.set(`${name}\0${file.path}`, { ...file, shown, name });
      } catch (error) {
        unreadable.push({ shown, why: describeReadError(error as NodeJS.ErrnoException) });
      }
    }
  }
  return { files: [...files.values()], unreadable };
}

/** A folder that cannot be read yields itself, so that its error is reported. */
async function* candidatesAt(given: string): AsyncGenerator<Pick<SourceFile, 'path' | 'shown' | 'name'>, void, void> {
  const itself = { path: given, shown: given, name: basename(given) };
  const isFolder = await stat(given).then(
    (kind) => kind.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    yield itself;
    return;
  }
  try {
    for await (const { path, name } of findRecordings(given)) yield { path, name, shown: join(given, name) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    yield itself;
  }
}

/** @throws the system's error when `path` is no file that may be read */
async function lookAt(path: string): Promise<Pick<SourceFile, 'path' | 'bytes' | 'modifiedMs'>> {
  await access(path, constants.R_OK);
  const found = await stat(path);
  if (found.isDirectory()) throw Object.assign(new Error('is a folder'), { code: 'EISDIR' });
  if (!found.isFile()) throw new Error('is neither a file nor a folder');
  return { path: await realpath(path), bytes: found.size, modifiedMs: Math.round(found.mtimeMs) };
}

/** Names of transcripts that belong to several of `files`, each with these files. */
export function findClashes(files: readonly SourceFile[]): { name: string; shown: string[] }[] {
  const byName = new Map<string, string[]>();
  for (const { name, shown } of files) byName.set(name, [...(byName.get(name) ?? []), shown]);
  return [...byName].filter(([, shown]) => shown.length > 1).map(([name, shown]) => ({ name, shown }));
}
