/** Reads the GPU's name from NVIDIA's driver for Linux. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Has one folder for each GPU, with a file that contains a line such as `Model: NVIDIA L4` (NVIDIA's README for Linux,
 * "The /proc interface").
 */
const DRIVER_FOLDER = '/proc/driver/nvidia/gpus';
const MODEL_LINE = /^Model:[ \t]*(\S.*)$/m;

/** The name; null when there is no such driver, or when the machine has GPUs with different names. Never rejects. */
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

/** Starts reading the name. The returned function gives null until it is read. */
export function askGpuName(folder = DRIVER_FOLDER): () => string | null {
  let name: string | null = null;
  void readGpuName(folder).then((read) => {
    name = read;
  });
  return () => name;
}
