/** `config.json` of a Qwen3-ASR folder, as engine/export/qwen3-asr writes it. */
import { ModelFileError, toObject, wholeIn } from '../folder-files.ts';
import { showValue } from '../show-value.ts';
import { codeOfLanguage } from './languages.ts';

/** What is said of a graph that hears, be it in a recogniser or in an aligner. */
export interface QwenAudioConfig {
  /** Of the weights. */
  readonly dtype: (typeof DTYPES)[number];
  readonly vocabularySize: number;
  /** Of an audio token, and of a text token before the first layer. */
  readonly hiddenSize: number;
  readonly melBins: number;
  /** Frames of one chunk, which the encoder's convolutions see alone, and the audio tokens that it becomes. */
  readonly chunkFrames: number;
  readonly chunkTokens: number;
  /** Audio tokens that attend to one another. */
  readonly windowTokens: number;
  /** Stands in the prompt for each audio token. */
  readonly audioPadToken: number;
  /** BCP-47, the one that is assumed first. */
  readonly languages: readonly string[];
}

/** What the file says of the graphs of a recogniser. */
export interface QwenConfig extends QwenAudioConfig {
  /** These three are the decoder's. */
  readonly layers: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  /** Any of them ends a text. */
  readonly endTokens: readonly number[];
  /** Tokens of a text at most. */
  readonly maxNewTokens: number;
  /** Readings that one run may take together, where that saves time. */
  readonly batchMax: number;
}

/** Longest file, in bytes. */
export const CONFIG_MAX_BYTES = 65_536;

const DTYPES = ['f32', 'f16', 'int8', 'uint8', 'int4'] as const;

/** Bounds far above every published model. */
const VOCABULARY_MAX = 1_000_000;
const WIDTH_MAX = 65_536;
const LAYERS_MAX = 256;
const HEADS_MAX = 256;
const HEAD_SIZE_MAX = 1024;
const MEL_BINS_MAX = 512;
const CHUNK_FRAMES_MAX = 3000;
const WINDOW_TOKENS_MAX = 65_536;
const END_TOKENS_MAX = 16;
const NEW_TOKENS_MAX = 512;
const LANGUAGES_MAX = 200;
const BATCH_MAX = 64;

/** Reads the text of a recogniser's file. @throws ModelFileError */
export function parseQwenConfig(text: string): QwenConfig {
  return readQwenConfig(toObject(text));
}

/** Checks the values of a recogniser's file, however deep they are. @throws ModelFileError */
export function readQwenConfig(values: Readonly<Record<string, unknown>>): QwenConfig {
  const audio = readAudioConfig(values, 'qwen3-asr');
  const whole = (name: string, minimum: number, maximum: number) => wholeIn(values[name], name, minimum, maximum);
  return {
    ...audio,
    layers: whole('layers', 1, LAYERS_MAX),
    keyValueHeads: whole('keyValueHeads', 1, HEADS_MAX),
    headSize: whole('headSize', 2, HEAD_SIZE_MAX),
    endTokens: listIn(values['endTokens'], 'endTokens', END_TOKENS_MAX).map((token) =>
      wholeIn(token, 'endTokens', 0, audio.vocabularySize - 1),
    ),
    maxNewTokens: whole('maxNewTokens', 1, NEW_TOKENS_MAX),
    batchMax: whole('batchMax', 1, BATCH_MAX),
  };
}

/** @param model what the file has to say that it is. @throws ModelFileError */
export function readAudioConfig(values: Readonly<Record<string, unknown>>, model: string): QwenAudioConfig {
  const whole = (name: string, minimum: number, maximum: number) => wholeIn(values[name], name, minimum, maximum);
  if (values['model'] !== model) throw wrong('model', values['model'], JSON.stringify(model));
  if (values['format'] !== 1) throw wrong('format', values['format'], '1; a later release may read it');
  const dtype = DTYPES.find((known) => known === values['dtype']);
  if (dtype === undefined) throw wrong('dtype', values['dtype'], `one of ${DTYPES.join(', ')}`);
  const vocabularySize = whole('vocabularySize', 4, VOCABULARY_MAX);
  const chunkFrames = whole('chunkFrames', 8, CHUNK_FRAMES_MAX);
  const chunkTokens = whole('chunkTokens', 1, chunkFrames);
  if (chunkTokens !== tokensOfFrames(chunkFrames))
    throw wrong('chunkTokens', chunkTokens, `${tokensOfFrames(chunkFrames)} of ${chunkFrames} frames`);
  const windowTokens = whole('windowTokens', chunkTokens, WINDOW_TOKENS_MAX);
  if (windowTokens % chunkTokens !== 0)
    throw wrong('windowTokens', windowTokens, `a multiple of chunkTokens (${chunkTokens})`);
  return {
    dtype,
    vocabularySize,
    hiddenSize: whole('hiddenSize', 1, WIDTH_MAX),
    melBins: whole('melBins', 1, MEL_BINS_MAX),
    chunkFrames,
    chunkTokens,
    windowTokens,
    audioPadToken: whole('audioPadToken', 0, vocabularySize - 1),
    languages: listIn(values['languages'], 'languages', LANGUAGES_MAX).map(languageIn),
  };
}

/** Tokens that the convolutions make of so many frames of one chunk. */
export function tokensOfFrames(frames: number): number {
  const halved = (length: number) => Math.ceil(length / 2);
  return halved(halved(halved(frames)));
}

function languageIn(value: unknown): string {
  const code = typeof value === 'string' ? codeOfLanguage(value) : null;
  if (code === null) throw wrong('languages', value, 'names such as "English"');
  return code;
}

function listIn(value: unknown, name: string, longest: number): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= longest) return value;
  throw wrong(name, value, `an array of 1 to ${longest}`);
}

function wrong(name: string, value: unknown, expected: string): ModelFileError {
  return new ModelFileError(`${name}: got ${showValue(value)}, expected ${expected}`);
}
