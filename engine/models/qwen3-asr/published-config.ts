/** The numbers of a published folder, from its `config.json` or from its graphs, as those of our own. */
import type { ModelFile } from '../../graph/model-file.ts';
import { ModelFileError, toObject, wholeIn } from '../folder-files.ts';
import { type QwenConfig, readQwenConfig } from './config.ts';
import { nameOfLanguage, QWEN_LANGUAGES } from './languages.ts';
import type { PublishedWeights } from './published-layout.ts';
import type { QwenTokenizer } from './tokenizer.ts';

/** Those that are the same in every Qwen3-ASR model, and are written down nowhere. */
const FIXED = { chunkFrames: 100, chunkTokens: 13, windowTokens: 104 } as const;

/** Tokens of a text at most; that of the published programs. */
const NEW_TOKENS_MAX = 512;
const NEW_TOKENS_MIN = 16;
/** Of a prompt without what is known of the speech. */
const PROMPT_TOKENS = 24;
/** Where a cache has an end, names and context have no more of it than that. */
export const KNOWN_TOKENS_MAX = 128;
/** Least and most tokens of such a cache: those of sherpa-onnx have 512. */
const ROOM_MIN = PROMPT_TOKENS + KNOWN_TOKENS_MAX + 2 * NEW_TOKENS_MIN;
const ROOM_MAX = 4096;

/** Sizes of a model. */
export type PublishedSizes = Pick<
  QwenConfig,
  'vocabularySize' | 'hiddenSize' | 'layers' | 'keyValueHeads' | 'headSize' | 'melBins'
>;

type Sizes = Readonly<Record<keyof PublishedSizes, unknown>>;

/** Where `config.json` of a folder with a split decoder has them. */
const PLACES: Readonly<Record<keyof PublishedSizes, readonly [section: string, name: string]>> = {
  vocabularySize: ['decoder', 'vocab_size'],
  hiddenSize: ['decoder', 'hidden_size'],
  layers: ['decoder', 'num_layers'],
  keyValueHeads: ['decoder', 'num_key_value_heads'],
  headSize: ['decoder', 'head_dim'],
  melBins: ['encoder', 'num_mel_bins'],
};

/** Sizes by the text of `config.json` of a folder with a split decoder. @throws ModelFileError */
export function readSplitSizes(text: string): PublishedSizes {
  const json = toObject(text);
  const valueAt = ([section, name]: readonly [string, string]) => propertyOf(propertyOf(json, section), name);
  const sizes = Object.fromEntries(Object.entries(PLACES).map(([size, place]) => [size, valueAt(place)]));
  try {
    return checked(sizes as Sizes);
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    const named = (size: string) => PLACES[size as keyof PublishedSizes]?.join('.') ?? size;
    throw new ModelFileError(error.message.replace(/^\w+(?=:)/, named));
  }
}

/** Sizes by the graphs of sherpa-onnx, which has no `config.json`. @throws ModelFileError */
export function readStaticSizes(graphs: {
  readonly convolutions: ModelFile;
  readonly encoder: ModelFile;
  readonly decoder: ModelFile;
}): PublishedSizes {
  const { convolutions, encoder, decoder } = graphs;
  return checked({
    vocabularySize: lengthOf(decoder.outputs, 'logits', 2),
    hiddenSize: lengthOf(encoder.outputs, 'audio_features', 2),
    layers: decoder.inputs.filter(({ name = '' }) => name.startsWith('cache_key_')).length,
    keyValueHeads: lengthOf(decoder.inputs, 'cache_key_0', 2),
    headSize: lengthOf(decoder.inputs, 'cache_key_0', 3),
    melBins: lengthOf(convolutions.inputs, 'input_features', 2),
  });
}

/**
 * How many tokens a decoder of sherpa-onnx has room for, in the graph itself or in a property of its author's; null =
 * as many as one likes, as in those that are published.
 * @throws ModelFileError where that is too few, or memory for so many would be taken for each text
 */
export function roomOf({ inputs, metadata }: ModelFile): number | null {
  const told = Number(metadata.get('max_total_len') ?? Number.NaN);
  const room = lengthOf(inputs, 'cache_key_0', 1) ?? (Number.isInteger(told) && told > 0 ? told : null);
  return room === null ? null : wholeIn(room, 'max_total_len', ROOM_MIN, ROOM_MAX);
}

/** The whole of what is known of a model. @throws ModelFileError, ModelFileError */
export function publishedConfig(
  sizes: PublishedSizes,
  dtype: PublishedWeights,
  tokenizer: QwenTokenizer,
  room: number | null,
): QwenConfig {
  return toConfig({
    ...sizes,
    dtype,
    audioPadToken: tokenizer.idOf('<|audio_pad|>'),
    endTokens: ['<|im_end|>', '<|endoftext|>'].map((name) => tokenizer.idOf(name)),
    maxNewTokens: room === null ? NEW_TOKENS_MAX : newTokensFor(room),
  });
}

/**
 * Speech is cut where its text may be too long, of as many tokens each second as the speech itself has: so with half of
 * the room the rest is enough for the speech.
 */
function newTokensFor(room: number): number {
  return Math.min(Math.floor((room - PROMPT_TOKENS - KNOWN_TOKENS_MAX) / 2), NEW_TOKENS_MAX);
}

function checked(sizes: Sizes): PublishedSizes {
  const rest = { dtype: 'f32', audioPadToken: 0, endTokens: [0], maxNewTokens: NEW_TOKENS_MAX };
  const { vocabularySize, hiddenSize, layers, keyValueHeads, headSize, melBins } = toConfig({ ...sizes, ...rest });
  return { vocabularySize, hiddenSize, layers, keyValueHeads, headSize, melBins };
}

/** With the checks of our own file. */
function toConfig(values: Readonly<Record<string, unknown>>): QwenConfig {
  const languages = QWEN_LANGUAGES.map(nameOfLanguage);
  return readQwenConfig({ ...values, model: 'qwen3-asr', format: 1, ...FIXED, languages, batchMax: 1 });
}

/** A property of what may be no object; undefined where it has none. */
export function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** The length of an axis of an input or output; undefined where it is open. */
function lengthOf(values: ModelFile['inputs'], name: string, axis: number): number | undefined {
  const length = values.find((value) => value.name === name)?.type?.tensorType?.shape?.dim[axis]?.dimValue;
  return length === undefined ? undefined : Number(length);
}
