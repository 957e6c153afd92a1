/** `streaming_config.json` of a Moonshine streaming folder, as its publisher writes it. */

import { toObject, wholeIn } from '../folder-files.ts';

/** What the file says of the graphs. Widths that it does not have are null: the graphs may say them themselves. */
export interface StreamingConfig {
  /** Channels into the front end's first convolution, and into its second. */
  readonly firstChannels: number | null;
  readonly secondChannels: number | null;
  /** Of an encoded frame. */
  readonly encoderWidth: number | null;
  /** Layers of the decoder. */
  readonly layers: number;
  readonly encoderLayers: number;
  readonly heads: number;
  readonly headSize: number;
  readonly vocabularySize: number;
  readonly startToken: number;
  readonly endToken: number;
  /** Frames of 20 ms behind which an encoded frame cannot change any more. */
  readonly lookaheadFrames: number;
  /** Tokens of a text at most. */
  readonly textMaxTokens: number;
}

/** Longest file, in bytes: the published ones have 500. */
export const CONFIG_MAX_BYTES = 65_536;

/** Bounds far above every published model. */
const WIDTH_MAX = 65_536;
const LAYERS_MAX = 64;
const HEADS_MAX = 64;
const HEAD_SIZE_MAX = 512;
const VOCABULARY_MAX = 1_000_000;
const LOOKAHEAD_MAX = 256;
const TEXT_MAX_TOKENS = 4096;

/** Reads the text of the file. @throws ModelFileError */
export function parseStreamingConfig(text: string): StreamingConfig {
  const values = toObject(text);
  const whole = (name: string, minimum: number, maximum: number, otherwise?: number): number => {
    return wholeIn(values[name] ?? otherwise, name, minimum, maximum);
  };
  const layers = whole('depth', 1, LAYERS_MAX);
  const vocabularySize = whole('vocab_size', 4, VOCABULARY_MAX);
  const width = (name: string): number | null => (name in values ? whole(name, 1, WIDTH_MAX) : null);
  return {
    firstChannels: width('d_model_frontend'),
    secondChannels: width('c1'),
    encoderWidth: width('encoder_dim'),
    layers,
    encoderLayers: whole('encoder_depth', 1, LAYERS_MAX, layers),
    heads: whole('nheads', 1, HEADS_MAX),
    headSize: whole('head_dim', 2, HEAD_SIZE_MAX),
    vocabularySize,
    startToken: whole('bos_id', 0, vocabularySize - 1, 1),
    endToken: whole('eos_id', 0, vocabularySize - 1, 2),
    lookaheadFrames: whole('total_lookahead', 0, LOOKAHEAD_MAX, 16),
    textMaxTokens: whole('max_seq_len', 1, TEXT_MAX_TOKENS, 448),
  };
}
