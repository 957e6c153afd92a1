/** `config.json` and `generation_config.json` of a Whisper folder, as Hugging Face transformers writes them. */
import { isWhole, ModelFileError, toObject, wholeIn } from '../folder-files.ts';
import { showValue } from '../show-value.ts';

/** Longest of these files, in bytes: those of large-v3 have 4000. */
export const CONFIG_MAX_BYTES = 1_048_576;

/** Bounds far above every published model. */
const BANDS_MAX = 1024;
const LAYERS_MAX = 128;
const HEADS_MAX = 128;
const POSITIONS_MAX = 65_536;
const VOCABULARY_MAX = 1_000_000;
const LIST_MAX = 10_000;

/** The vocabulary of those for English alone is smaller. https://github.com/openai/whisper, whisper/model.py */
const MULTILINGUAL_VOCABULARY_MIN = 51_865;

/** A head of the decoder's attention to the speech. */
export interface AligningHead {
  readonly layer: number;
  readonly head: number;
}

/** What the two files say of the graphs and of what is read with them. */
export interface WhisperConfig {
  /** Of the features. */
  readonly bands: number;
  /** Of the decoder. */
  readonly layers: number;
  readonly heads: number;
  /** Positions of 20 ms that the encoder has. */
  readonly positions: number;
  /** Tokens of a text at most, its prompt among them. */
  readonly textPositions: number;
  readonly vocabularySize: number;
  readonly isMultilingual: boolean;
  /** What is never said. */
  readonly suppressed: readonly number[];
  /** What is not said first. */
  readonly suppressedFirst: readonly number[];
  /** The heads that follow the speech, where it says them. */
  readonly aligningHeads: readonly AligningHead[];
}

type Values = Readonly<Record<string, unknown>>;

/**
 * @param config the text of `config.json`
 * @param generation that of `generation_config.json`; null = there is none, and the first has what it says
 * @throws ModelFileError that names the property, what came and what was expected
 */
export function parseWhisperConfig(config: string, generation: string | null): WhisperConfig {
  const values: Values = toObject(config);
  if (values['model_type'] !== 'whisper')
    throw new ModelFileError(`model_type: got ${showValue(values['model_type'])}, expected "whisper"`);
  const more: Values = generation === null ? {} : toObject(generation);
  const vocabularySize = wholeIn(values['vocab_size'], 'vocab_size', 16, VOCABULARY_MAX);
  const layers = wholeIn(values['decoder_layers'], 'decoder_layers', 1, LAYERS_MAX);
  const heads = wholeIn(values['decoder_attention_heads'], 'decoder_attention_heads', 1, HEADS_MAX);
  const tokens = (name: string) => tokensIn(more[name] ?? values[name] ?? [], name, vocabularySize);
  const told = more['is_multilingual'] ?? values['is_multilingual'];
  return {
    bands: wholeIn(values['num_mel_bins'], 'num_mel_bins', 1, BANDS_MAX),
    layers,
    heads,
    positions: wholeIn(values['max_source_positions'], 'max_source_positions', 100, POSITIONS_MAX),
    textPositions: wholeIn(values['max_target_positions'], 'max_target_positions', 16, POSITIONS_MAX),
    vocabularySize,
    isMultilingual: typeof told === 'boolean' ? told : vocabularySize >= MULTILINGUAL_VOCABULARY_MIN,
    suppressed: tokens('suppress_tokens'),
    suppressedFirst: tokens('begin_suppress_tokens'),
    aligningHeads: headsIn(more['alignment_heads'] ?? [], layers, heads),
  };
}

/** Old files list -1 for what their author's program finds itself. */
function tokensIn(value: unknown, name: string, count: number): readonly number[] {
  const isToken = (token: unknown): token is number => isWhole(token, -1, count - 1);
  if (Array.isArray(value) && value.length <= LIST_MAX && value.every(isToken)) return value.filter((id) => id >= 0);
  throw new ModelFileError(`${name}: got ${showValue(value)}, expected a list of tokens below ${count}`);
}

function headsIn(value: unknown, layers: number, heads: number): readonly AligningHead[] {
  const isPair = (pair: unknown): pair is readonly [number, number] =>
    Array.isArray(pair) && pair.length === 2 && isWhole(pair[0], 0, layers - 1) && isWhole(pair[1], 0, heads - 1);
  if (Array.isArray(value) && value.length <= LIST_MAX && value.every(isPair))
    return value.map(([layer, head]) => ({ layer, head }));
  throw new ModelFileError(
    `alignment_heads: got ${showValue(value)}, expected pairs of a layer below ${layers} and a head below ${heads}`,
  );
}
