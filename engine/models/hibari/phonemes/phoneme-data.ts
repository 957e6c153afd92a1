/** The files of the installed voice that the phonemizer reads, each read once. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Refusal } from '../../../refusal.ts';
import type { Accent } from '../../phoneme-symbols.ts';
import { Dictionary } from './dictionary.ts';
import { JsonIndex } from './json-index.ts';
import { Tagger } from './tagger.ts';
import { Tokenizer } from './tokenizer.ts';
import { openUnknownWords, type UnknownWords } from './unknown-words.ts';

/** What both accents share, and what an accent has of its own. */
export interface PhonemeData {
  readonly tokenizer: Tokenizer;
  readonly tagger: Tagger;
  readonly dictionary: Dictionary;
  readonly unknown: UnknownWords;
}

/** Larger ones are not the voice's: its largest, the tagger, is 4.6 MB. */
const UNPACKED_MAX_BYTES = 64 * 1024 * 1024;

const opened = new Map<string, Promise<unknown>>();

/**
 * The data of an accent, shared by all voices that need it.
 * @throws Refusal `model_missing` when a file is missing or cannot be read.
 */
export async function openPhonemeData(folder: string, accent: Accent): Promise<PhonemeData> {
  const [tokenizer, tagger, dictionary, unknown] = await Promise.all([
    openOnce(`${folder} tokenizer`, () => openTokenizer(folder)),
    openOnce(`${folder} tagger`, async () => new Tagger(await unpack(folder, 'tagger'))),
    openOnce(`${folder} dictionary ${accent}`, () => openDictionary(folder, accent)),
    openOnce(`${folder} unknown ${accent}`, () => openUnknownWords(folder, accent)),
  ]);
  return { tokenizer, tagger, dictionary, unknown };
}

/** What cannot be opened is tried again the next time. */
function openOnce<T>(name: string, open: () => Promise<T>): Promise<T> {
  const known = opened.get(name) as Promise<T> | undefined;
  if (known !== undefined) return known;
  const opening = open().catch((error: unknown) => {
    opened.delete(name);
    if (error instanceof Refusal) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal('model_missing', `the phonemes of ${name} cannot be read: ${reason}; add the voice again`);
  });
  opened.set(name, opening);
  return opening;
}

async function openTokenizer(folder: string): Promise<Tokenizer> {
  const exceptions = JSON.parse(await readFile(join(folder, 'tokenizer_exceptions.json'), 'utf8')) as object;
  return new Tokenizer(new Map(Object.entries(exceptions) as [string, string[]][]));
}

async function openDictionary(folder: string, accent: Accent): Promise<Dictionary> {
  const [gold, silver] = await Promise.all(
    ['gold', 'silver'].map(async (kind) => new JsonIndex(await unpack(folder, `lexicon_${accent}_${kind}`))),
  );
  if (gold === undefined || silver === undefined) throw new Error('a lexicon is missing');
  return new Dictionary({ gold, silver });
}

async function unpack(folder: string, name: string): Promise<Buffer> {
  const packed = await readFile(join(folder, `${name}.json.gz`));
  return promisify(gunzip)(packed, { maxOutputLength: UNPACKED_MAX_BYTES });
}
