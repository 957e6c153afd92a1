/** How a Moonshine streaming folder is known. The model table reads this; it opens nothing. */

/** The files that every folder has beside its graphs. */
export const CONFIG_FILE = 'streaming_config.json';
export const TOKENIZER_FILE = 'tokenizer.bin';

/** Whether these are the files of such a folder, by their names. */
export function isStreamingLayout(files: readonly string[]): boolean {
  return files.includes(CONFIG_FILE) && files.includes(TOKENIZER_FILE);
}

/**
 * The language that the publisher's folder is named after, e.g. `de` in `small-streaming-de/quantized_26_08_24`; null =
 * its name says nothing.
 */
export function languageOfFolder(folder: string): string | null {
  return /(?:^|[\\/])(?:tiny|small|medium|base)-streaming-([a-z]{2,3})(?:[\\/][^\\/]*)?$/.exec(folder)?.[1] ?? null;
}
