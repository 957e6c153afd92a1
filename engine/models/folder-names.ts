/** What lies in a model's folder. The command line reads it too. */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

/** Folders within a model's own that have files of the model. */
const INNER_FOLDERS = ['aligner', 'onnx', 'tokenizer'] as const;

/**
 * The names in a folder, and those in its inner folders as `onnx/NAME`.
 * @throws the error of the disk where the folder cannot be read
 */
export function namesInFolder(folder: string): string[] {
  const names = readdirSync(folder);
  const inner = INNER_FOLDERS.filter((name) => names.includes(name) && isFolder(join(folder, name)));
  return [...names, ...inner.flatMap((name) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`))];
}

/** Bytes of a file; 0 where there is none, or it cannot be looked at: links may lead to themselves. */
export function fileBytes(path: string): number {
  return statsOf(path)?.size ?? 0;
}

function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() === true;
}

function statsOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
