/** What lies in the folder of hibari beside the pronunciation: its voices, and the numbers of phonemes. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Accent } from '../phoneme-symbols.ts';

/** A voice whose file is there. */
export interface HibariVoice {
  /** As the package calls it. */
  readonly name: string;
  /** BCP-47. */
  readonly language: string;
  readonly accent: Accent;
  /** Absolute path of its network. */
  readonly file: string;
}

/** Phoneme → number. */
export type Vocabulary = ReadonlyMap<string, number>;

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const FILE = /^[\w][\w.-]{0,99}\.onnx$/;
const LANGUAGE = /^[a-z]{2}-[A-Z]{2}$/;

/**
 * The voices of `voices.json` whose files lie in `folder`, in its order. An operator adds a voice by its file.
 * @throws Error for a list that is not as expected
 */
export async function readVoices(folder: string): Promise<HibariVoice[]> {
  const entries = Object.entries(await readObject(folder, 'voices.json'));
  return entries.map(([name, value]) => voiceOf(folder, name, value)).filter(({ file }) => existsSync(file));
}

function voiceOf(folder: string, name: string, value: unknown): HibariVoice {
  const { language, file, british } = isObject(value) ? value : {};
  const isVoice =
    NAME.test(name) &&
    typeof language === 'string' &&
    LANGUAGE.test(language) &&
    typeof file === 'string' &&
    FILE.test(file);
  if (!isVoice || typeof british !== 'boolean')
    throw new Error(`voices.json: got ${JSON.stringify(name.slice(0, 40))}, expected language, file and british of it`);
  return { name, language, accent: british ? 'gb' : 'us', file: join(folder, file) };
}

/**
 * The numbers of phonemes in `vocab.json`.
 * @throws Error for a list that is not as expected
 */
export async function readVocabulary(folder: string): Promise<Vocabulary> {
  const entries = Object.entries(await readObject(folder, 'vocab.json'));
  for (const [phoneme, id] of entries) {
    if ([...phoneme].length !== 1 || !Number.isInteger(id) || (id as number) < 0)
      throw new Error(`vocab.json: got ${JSON.stringify(phoneme.slice(0, 8))}, expected characters with whole numbers`);
  }
  return new Map(entries as [string, number][]);
}

/** The numbers of `phonemes`; what has none is left out. */
export function idsOf(phonemes: string, vocabulary: Vocabulary): number[] {
  return [...phonemes].flatMap((phoneme) => vocabulary.get(phoneme) ?? []);
}

async function readObject(folder: string, name: string): Promise<Record<string, unknown>> {
  const value: unknown = JSON.parse(await readFile(join(folder, name), 'utf8'));
  if (isObject(value)) return value;
  throw new Error(`${name}: expected an object`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
