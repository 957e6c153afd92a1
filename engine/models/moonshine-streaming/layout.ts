/**
 * The files of a Moonshine streaming folder, as they are published: `frontend`, or `frontend.weights` and
 * `frontend.model`, `encoder`, `adapter`, `cross_kv`, `decoder_kv`, for some languages also
 * `decoder_kv_with_attention`, each as .ort or .onnx; `streaming_config.json` and `tokenizer.bin`. Source:
 * https://github.com/moonshine-ai/moonshine
 */
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Refusal } from '../../refusal.ts';
import { ModelFileError } from '../folder-files.ts';
import { CONFIG_MAX_BYTES, parseStreamingConfig, type StreamingConfig } from './config.ts';
import {
  ATTENTION_DECODER,
  CONFIG_FILE,
  FRONTEND,
  FRONTEND_PARTS,
  GRAPH_ENDINGS,
  GRAPHS,
  TOKENIZER_FILE,
} from './file-names.ts';
import { readTokens, TOKENIZER_MAX_BYTES, TokenTable } from './token-table.ts';

/** Absolute paths of a folder's graphs. */
export interface GraphFiles {
  /** The front end; its weights are in it, or in a graph of their own. */
  readonly frontend: string;
  readonly frontendWeights: string | null;
  readonly encoder: string;
  readonly adapter: string;
  readonly crossKv: string;
  readonly decoder: string;
  /** The decoder that also gives its attention to the speech; null = words have no times. */
  readonly attentionDecoder: string | null;
}

/** A folder that was read; its graphs are not open yet. */
export interface StreamingFolder {
  readonly graphs: GraphFiles;
  readonly config: StreamingConfig;
  readonly tokens: TokenTable;
}

/** Reads everything of a folder but its graphs. @throws Refusal that names the file, what came and what was expected */
export async function readStreamingFolder(folder: string): Promise<StreamingFolder> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new Refusal('model_missing', `${folder} cannot be read: ${error.code ?? error.message}`);
  });
  const graphs = findGraphs(folder, files);
  const config = await readPart(join(folder, CONFIG_FILE), CONFIG_MAX_BYTES, (bytes) =>
    parseStreamingConfig(Buffer.from(bytes).toString('utf8')),
  );
  const tokens = await readPart(join(folder, TOKENIZER_FILE), TOKENIZER_MAX_BYTES, (bytes) =>
    readTokens(bytes, config.vocabularySize),
  );
  return { graphs, config, tokens: new TokenTable(tokens) };
}

function findGraphs(folder: string, files: readonly string[]): GraphFiles {
  const find = (name: string): string | null => {
    const ending = GRAPH_ENDINGS.find((each) => files.includes(name + each));
    return ending === undefined ? null : join(folder, name + ending);
  };
  const need = (name: string): string => {
    const path = find(name);
    if (path !== null) return path;
    throw new Refusal(
      'model_missing',
      `${folder} has no ${name}.onnx and no ${name}.ort; expected ${[FRONTEND, ...GRAPHS].join(', ')}, ` +
        `${CONFIG_FILE} and ${TOKENIZER_FILE}`,
    );
  };
  const [encoder = '', adapter = '', crossKv = '', decoder = ''] = GRAPHS.map(need);
  const [weights, model] = FRONTEND_PARTS;
  const frontendWeights = find(weights);
  const frontend = frontendWeights === null ? need(FRONTEND) : need(model);
  const attentionDecoder = find(ATTENTION_DECODER);
  return { frontend, frontendWeights, encoder, adapter, crossKv, decoder, attentionDecoder };
}

async function readPart<T>(path: string, maxBytes: number, parse: (bytes: Uint8Array) => T): Promise<T> {
  try {
    return parse(await readBounded(path, maxBytes));
  } catch (error) {
    if (error instanceof ModelFileError) throw new Refusal('bad_settings', `${path}: ${error.message}`);
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Refusal(
      'model_missing',
      `${basename(path)} cannot be read: ${code === 'ENOENT' ? `no ${path}` : message}`,
    );
  }
}

async function readBounded(path: string, maxBytes: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw new ModelFileError(`got ${size} bytes, expected at most ${maxBytes}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
