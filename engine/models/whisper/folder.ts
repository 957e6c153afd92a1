/** A folder of Whisper: what its small files say, and which graphs it has. */
import { join } from 'node:path';
import type { ModelFile } from '../../graph/model-file.ts';
import { Refusal } from '../../refusal.ts';
import { ModelFileError, readGraph, readText, refusing } from '../folder-files.ts';
import { namesInFolder } from '../folder-names.ts';
import { reasonOf } from '../installed.ts';
import { TOKENIZER_MAX_BYTES } from '../qwen3-asr/tokenizer.ts';
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
  const config = refusing(join(folder, CONFIG_FILE), () => {
    const generation = names.includes(GENERATION_FILE) ? read(GENERATION_FILE, CONFIG_MAX_BYTES) : null;
    return parseWhisperConfig(read(CONFIG_FILE, CONFIG_MAX_BYTES), generation);
  });
  const isOne = names.includes(TOKENIZER_FILE);
  const vocabulary = refusing(isOne ? join(folder, TOKENIZER_FILE) : folder, () => {
    if (isOne) return new WhisperVocabulary(read(TOKENIZER_FILE, TOKENIZER_MAX_BYTES), config);
    const [pieces = '', merges = '', added = ''] = VOCABULARY_FILES.map((name) => read(name, TOKENIZER_MAX_BYTES));
    return new WhisperVocabulary(tokenizerOf(pieces, merges, added || '{}'), config);
  });
  const encoder = readGraph(join(folder, layout.encoder));
  if (layout.kind === 'free') refusing(join(folder, CONFIG_FILE), () => requirePositions(encoder, config));
  return { layout, config, vocabulary, encoder, decoder: readGraph(join(folder, layout.decoder)) };
}

/** Our exporter's graph takes every window up to its table's end; one beyond it would be found out in a call only. */
function requirePositions({ constants }: ModelFile, { positions }: WhisperConfig): void {
  const tables = [...constants.values()].filter(({ dims }) => dims.length === 2);
  if (tables.some(({ dims }) => dims[0] === BigInt(positions))) return;
  throw new ModelFileError(`max_source_positions: got ${positions}, expected as many as the encoder has`);
}

function readNames(folder: string): readonly string[] {
  try {
    return namesInFolder(folder);
  } catch (error) {
    throw new Refusal('model_missing', `${folder} cannot be read: ${reasonOf(error)}`);
  }
}
