/** The voices of Kokoro: each is a table of 510 styles, one for each number of phonemes. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Accent } from '../phoneme-symbols.ts';
import { listNpz, type NpzEntry, readNpz, toFloats } from './npz.ts';

/** Numbers of one style, and styles of one voice. */
export const STYLE_SIZE = 256;
export const STYLES = 510;
const TABLE_NUMBERS = STYLES * STYLE_SIZE;
const NPY_HEADER_MAX_BYTES = 1024;

/** `af_heart`: a = American, b = British, then f or m. Others speak languages that the phonemizer does not know. */
const ENGLISH = /^[ab][fm]_[a-z0-9]{1,32}$/;
const SINGLE_FILE = /^voices[\w.-]*\.(?:npz|bin)$/;

/** A voice in the folder of the model. */
export interface KokoroVoice {
  readonly name: string;
  readonly accent: Accent;
  /** Absolute path. */
  readonly file: string;
  /** Where it lies in an archive; null = the file is the voice. */
  readonly entry: NpzEntry | null;
}

/** The English voices: files `voices/*.bin`, or one archive `voices*.npz` or `voices*.bin`. In the order of names. */
export async function listStyles(folder: string): Promise<KokoroVoice[]> {
  const files = await readdir(join(folder, 'voices')).catch(() => []);
  const single = files
    .filter((file) => file.endsWith('.bin'))
    .map((file) => voiceOf(file.slice(0, -4), join(folder, 'voices', file), null));
  const archives = (await readdir(folder)).filter((file) => SINGLE_FILE.test(file)).map((file) => join(folder, file));
  const packed = await Promise.all(
    archives.map(async (file) => listNpz(await readFile(file)).map((entry) => voiceOf(entry.name, file, entry))),
  );
  const voices = [...single, ...packed.flat()].filter(({ name }) => ENGLISH.test(name));
  return [...new Map(voices.map((voice) => [voice.name, voice])).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function voiceOf(name: string, file: string, entry: NpzEntry | null): KokoroVoice {
  return { name, accent: name.startsWith('b') ? 'gb' : 'us', file, entry };
}

/**
 * The table of a voice.
 * @throws Error for a file of another size
 */
export async function readStyles({ name, file, entry }: KokoroVoice): Promise<Float32Array> {
  const bytes = await readFile(file);
  const table = entry === null ? toFloats(bytes) : readNpz(bytes, entry, 4 * TABLE_NUMBERS + NPY_HEADER_MAX_BYTES);
  if (table.length !== TABLE_NUMBERS)
    throw new Error(`the voice ${name} has ${table.length} numbers, expected ${TABLE_NUMBERS}`);
  return table;
}
