/**
 * The weights that `@moonshine-ai/moonshine-js` ships, laid out as other programs look for them. The graphs are links
 * to the very same files.
 */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import llamaTokenizer from 'llama-tokenizer-js';
import { END_TOKEN, HEADS, LAYERS, START_TOKEN, VOCABULARY_SIZE } from '../../../engine/graph/moonshine-shape.ts';
import { shippedFiles } from '../../../engine/models/moonshine.ts';

/** Name of the model in {@link ModelFolder.transformersJs}. */
export const MODEL_NAME = 'moonshine-tiny';

/** Folders of models, removed by `remove`. */
export interface ModelFolder {
  /** Has a folder {@link MODEL_NAME} with what a model on the hub of `@huggingface/transformers` has. */
  readonly transformersJs: string;
  /** Has what `useful-moonshine-onnx` takes as `models_dir`. */
  readonly moonshineOnnx: string;
  remove(): void;
}

/** Makes both. */
export async function arrangeModels(): Promise<ModelFolder> {
  const root = mkdtempSync(join(tmpdir(), 'trunkline-bench-models-'));
  const [transformersJs, moonshineOnnx] = [join(root, 'transformers-js'), join(root, 'moonshine-onnx')];
  await arrangeForTransformersJs(join(transformersJs, MODEL_NAME));
  await mkdir(moonshineOnnx);
  linkGraphs(moonshineOnnx, '');
  return { transformersJs, moonshineOnnx, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/**
 * The graphs are the package's; of the files beside them, which it does not ship, this holds what the library reads of
 * them for Moonshine.
 */
async function arrangeForTransformersJs(folder: string): Promise<void> {
  await mkdir(join(folder, 'onnx'), { recursive: true });
  linkGraphs(join(folder, 'onnx'), '_quantized');
  const tokens = { decoder_start_token_id: START_TOKEN, bos_token_id: START_TOKEN, eos_token_id: END_TOKEN };
  const files = {
    'config.json': { model_type: 'moonshine', is_encoder_decoder: true, ...SHAPE, ...tokens },
    'generation_config.json': tokens,
    'preprocessor_config.json': {
      feature_extractor_type: 'Wav2Vec2FeatureExtractor',
      processor_class: 'MoonshineProcessor',
      sampling_rate: 16_000,
    },
    'tokenizer.json': tokenizer(),
    'tokenizer_config.json': { tokenizer_class: 'PreTrainedTokenizerFast', clean_up_tokenization_spaces: false },
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
}

const SHAPE = {
  hidden_size: 288,
  vocab_size: VOCABULARY_SIZE,
  encoder_num_hidden_layers: LAYERS,
  decoder_num_hidden_layers: LAYERS,
  encoder_num_key_value_heads: HEADS,
  decoder_num_key_value_heads: HEADS,
};

function linkGraphs(folder: string, suffix: string): void {
  const { encoder, decoder } = shippedFiles();
  symlinkSync(encoder, join(folder, `encoder_model${suffix}.onnx`));
  symlinkSync(decoder, join(folder, `decoder_model_merged${suffix}.onnx`));
}

/** Moonshine's vocabulary is Llama's with control tokens behind it. Nothing is encoded here, so there are no merges. */
function tokenizer(): object {
  const words = llamaTokenizer.vocabById;
  const control = Array.from(
    { length: VOCABULARY_SIZE - words.length },
    (_, index) => [words.length + index, `<<ST_${index}>>`] as const,
  );
  const special = [...words.slice(0, 3).entries(), ...control];
  return {
    added_tokens: special.map(([id, content]) => ({
      id,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '\u2581' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      byte_fallback: true,
      fuse_unk: true,
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      merges: [],
    },
  };
}
