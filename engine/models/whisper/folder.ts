/** A folder of Whisper: what its small files say, and which graphs it has. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ModelFile, readModelFile } from '../../graph/model-file.ts';
import { Refusal } from '../../refusal.ts';
import { namesInFolder } from '../folder-names.ts';
import { reasonOf } from '../installed.ts';
import { ModelFileError } from '../moonshine-streaming/config.ts';
import { TOKENIZER_MAX_BYTES, TokenizerError } from '../qwen3-asr/tokenizer.ts';
import { CONFIG_MAX_BYTES, parseWhisperConfig, type WhisperConfig } from './config.ts';
import {
  CONFIG_FILE,
  findLayout,
  findWhisperFiles,
  GENERATION_FILE,
  TOKENIZER_FILE,
  VOCABULARY_FILES,
  type WhisperLayout,
} from './layout.ts';
import { tokenizerOf, WhisperVocabulary } from './vocabulary.ts';

/** A folder, read but for its weights. */
export interface WhisperFolder {
  readonly layout: WhisperLayout;
  readonly config: WhisperConfig;
  readonly vocabulary: WhisperVocabulary;
  readonly encoder: ModelFile;
  readonly decoder: ModelFile;
}

/** @throws Refusal that names the file, what came and what was expected */
export function readWhisperFolder(folder: string, provider: 'cpu' | 'cuda'): WhisperFolder {
  const names = readNames(folder);
  const layout = findLayout(names, provider);
  if (layout === null)
    throw new Refusal('model_missing', `${folder} lacks ${findWhisperFiles(names).missing.join(', ')}`);
  const read = (name: string, maxBytes: number) => (names.includes(name) ? readText(join(folder, name), maxBytes) : '');
  const config = refusing(folder, CONFIG_FILE, () => {
    const generation = names.includes(GENERATION_FILE) ? read(GENERATION_FILE, CONFIG_MAX_BYTES) : null;
    return parseWhisperConfig(read(CONFIG_FILE, CONFIG_MAX_BYTES), generation);
  });
  const vocabulary = refusing(folder, TOKENIZER_FILE, () => {
    const whole = read(TOKENIZER_FILE, TOKENIZER_MAX_BYTES);
    const [pieces = '', merges = '', added = ''] = VOCABULARY_FILES.map((name) => read(name, TOKENIZER_MAX_BYTES));
    return new WhisperVocabulary(whole === '' ? tokenizerOf(pieces, merges, added || '{}') : whole, config);
  });
  return {
    layout,
    config,
    vocabulary,
    encoder: readGraph(folder, layout.encoder),
    decoder: readGraph(folder, layout.decoder),
  };
}

function readNames(folder: string): readonly string[] {
  try {
    return namesInFolder(folder);
  } catch (error) {
    throw new Refusal('model_missing', `${folder} cannot be read: ${reasonOf(error)}`);
  }
}

function readGraph(folder: string, name: string): ModelFile {
  try {
    return readModelFile(join(folder, name));
  } catch (error) {
    throw new Refusal('model_missing', error instanceof Error ? error.message : String(error));
  }
}

function readText(path: string, maxBytes: number): string {
  try {
    const { size } = statSync(path);
    if (size > maxBytes) throw new Error(`it has ${size} bytes, expected at most ${maxBytes}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Refusal('model_missing', `${path} cannot be read: ${reasonOf(error)}`);
  }
}

function refusing<T>(folder: string, name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ModelFileError || error instanceof TokenizerError)
      throw new Refusal('bad_settings', `${join(folder, name)}: ${error.message}`);
    throw error;
  }
}
