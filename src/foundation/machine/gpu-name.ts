/** What NVIDIA's driver for Linux calls the graphics processor. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * One folder for each processor, in it a file with a line such as `Model: NVIDIA L4` (NVIDIA's README for Linux, "The
 * /proc interface").
 */
const DRIVER_FOLDER = '/proc/driver/nvidia/gpus';
const MODEL_LINE = /^Model:[ \t]*(\S.*)$/m;

/**
 * The name; null where there is no such driver, or where processors of several names make it uncertain which is meant.
 * Never rejects.
 */
export async function readGpuName(folder: string): Promise<string | null> {
  try {
    const processors = await readdir(folder);
    const texts = await Promise.all(processors.map((each) => readFile(join(folder, each, 'information'), 'utf8')));
    const names = new Set(texts.map((text) => MODEL_LINE.exec(text)?.[1]?.trim() ?? null));
    const [name = null] = names;
    return names.size === 1 ? name : null;
  } catch {
    return null;
  }
}

/** Begins to read it. Returns what gives the name once it has been read, and null until then. */
export function askGpuName(folder = DRIVER_FOLDER): () => string | null {
  let name: string | null = null;
  void readGpuName(folder).then((read) => {
    name = read;
  });
  return () => name;
}
