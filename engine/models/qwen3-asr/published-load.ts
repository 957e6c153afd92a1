/** Opens the two layouts of Qwen3-ASR that others publish. They are read as they are, and run on a CPU. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withChosenRows } from '../../graph/chosen-rows.ts';
import { type ModelFile, placeOf } from '../../graph/model-file.ts';
import { openGraph, openSession, type SessionOptions } from '../../onnx.ts';
import type { InferenceSession } from '../../onnxruntime.ts';
import { Refusal } from '../../refusal.ts';
import { readGraph, readText, refusing } from '../folder-files.ts';
import { CONFIG_MAX_BYTES, type QwenConfig } from './config.ts';
import { EmbeddingRows } from './embedding-rows.ts';
import type { AudioEncoder, TextDecoder } from './parts.ts';
import { PromptWriter } from './prompt.ts';
import { KNOWN_TOKENS_MAX, publishedConfig, readSplitSizes, readStaticSizes, roomOf } from './published-config.ts';
import { ConvolutionEncoder, MelEncoder } from './published-encoders.ts';
import { type PublishedLayout, SPLIT_FILES, STATIC_FILES, sharedWeightsOf } from './published-layout.ts';
import { tokenizerJsonOf } from './published-tokenizer.ts';
import { SplitDecoder } from './split-decoder.ts';
import { StaticCacheDecoder } from './static-cache-decoder.ts';
import { QwenTokenizer, TOKENIZER_MAX_BYTES } from './tokenizer.ts';

/** How graphs are opened. */
export interface PublishedOptions extends SessionOptions {
  /** `rewritten`: a decoder gives the logits that are looked at, and no others. */
  readonly graphs: 'rewritten' | 'shipped';
}

/** The parts of a model that are open. */
export interface PublishedParts {
  readonly config: QwenConfig;
  readonly tokenizer: QwenTokenizer;
  readonly prompts: PromptWriter;
  readonly encoder: AudioEncoder;
  readonly decoder: TextDecoder;
  /** Something an operator should know of how it runs; null = nothing. */
  readonly warning: string | null;
  /** Files with its weights, absolute paths. */
  readonly graphs: readonly string[];
}

type LayoutOf<Kind extends PublishedLayout['kind']> = Extract<PublishedLayout, { kind: Kind }>;

/** @throws Refusal when a file is missing or is not of such a model */
export function openPublished(
  folder: string,
  layout: PublishedLayout,
  options: PublishedOptions,
): Promise<PublishedParts> {
  return layout.kind === 'split' ? openSplit(folder, layout, options) : openStatic(folder, layout, options);
}

async function openSplit(
  folder: string,
  layout: LayoutOf<'split'>,
  options: PublishedOptions,
): Promise<PublishedParts> {
  const [encoder, prompt, step] = [layout.encoder, layout.prompt, layout.step].map((name) =>
    readWhole(folder, name),
  ) as [ModelFile, ModelFile, ModelFile];
  requireInputs(encoder, ['mel']);
  requireInputs(prompt, ['input_ids', 'position_ids', 'audio_features', 'audio_offset']);
  requireInputs(step, ['input_embeds', 'position_ids', 'past_keys', 'past_values']);
  const configPath = join(folder, SPLIT_FILES.config);
  const sizes = refusing(configPath, () => readSplitSizes(readText(configPath, CONFIG_MAX_BYTES)));
  const tokenizerPath = join(folder, SPLIT_FILES.tokenizer);
  const known = refusing(tokenizerPath, () => {
    const tokenizer = new QwenTokenizer(readText(tokenizerPath, TOKENIZER_MAX_BYTES), sizes.vocabularySize);
    const config = publishedConfig(sizes, layout.weights, tokenizer, null);
    return { config, tokenizer, prompts: new PromptWriter(tokenizer, config) };
  });
  // Both read the same weights: unpacked, they are mapped once, for all engines. Those of a few bits must be packed.
  const decoding = layout.weights === 'f32' ? { ...options, config: { disable_prepacking: '1' } } : options;
  const embeddings = openEmbeddings(join(folder, SPLIT_FILES.embeddings), known.config);
  // The largest file goes first: while it is read, it is in memory twice.
  const hearing = await openSession(encoder.path, options);
  const opened = await openDecoder(prompt, decoding);
  const graphs = { prompt: opened.session, step: await openSession(step.path, decoding), embeddings };
  return {
    ...known,
    encoder: new MelEncoder(hearing, known.config),
    decoder: new SplitDecoder(graphs, known.config),
    warning: warningOf(layout, opened.warning),
    graphs: [encoder.path, prompt.path, join(folder, sharedWeightsOf(layout.prompt))],
  };
}

async function openStatic(
  folder: string,
  layout: LayoutOf<'static'>,
  options: PublishedOptions,
): Promise<PublishedParts> {
  const [convolutions, encoder, decoder] = [layout.convolutions, layout.encoder, layout.decoder].map((name) =>
    readWhole(folder, name),
  ) as [ModelFile, ModelFile, ModelFile];
  requireInputs(convolutions, ['input_features']);
  requireInputs(encoder, ['input_features', 'feature_attention_mask']);
  requireInputs(decoder, ['input_ids', 'audio_features', 'attention_mask', 'cache_position', 'cache_key_0']);
  const { sizes, room } = refusing(decoder.path, () => ({
    sizes: readStaticSizes({ convolutions, encoder, decoder }),
    room: roomOf(decoder),
  }));
  const known = refusing(join(folder, dirname(STATIC_FILES.vocabulary)), () => {
    const tokenizer = new QwenTokenizer(readTokenizer(folder), sizes.vocabularySize);
    const config = publishedConfig(sizes, layout.weights, tokenizer, room);
    return {
      config,
      tokenizer,
      prompts: new PromptWriter(tokenizer, config, room === null ? undefined : KNOWN_TOKENS_MAX),
    };
  });
  const opened = await openDecoder(decoder, options);
  const sessions = await Promise.all([convolutions, encoder].map(({ path }) => openSession(path, options)));
  const [front, back] = sessions as [InferenceSession, InferenceSession];
  return {
    ...known,
    encoder: new ConvolutionEncoder(front, back, known.config),
    decoder: new StaticCacheDecoder(opened.session, known.config, room),
    warning: warningOf(layout, opened.warning),
    graphs: [convolutions.path, encoder.path, decoder.path],
  };
}

/** A graph that cannot be rewritten is run as it is. */
async function openDecoder(
  model: ModelFile,
  options: PublishedOptions,
): Promise<{ readonly session: InferenceSession; readonly warning: string | null }> {
  if (options.graphs === 'shipped') return { session: await openSession(model.path, options), warning: null };
  try {
    return { session: await openGraph(withChosenRows(model, 'logits'), dirname(model.path), options), warning: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const warning = `the decoder takes longer and more memory, for its graph could not be rewritten: ${reason}`;
    return { session: await openSession(model.path, options), warning };
  }
}

function warningOf({ weights, others }: PublishedLayout, warning: string | null): string | null {
  const chosen = `it has weights of ${[weights, ...others].join(' and ')}, of which ${weights} are used`;
  return [...(others.length === 0 ? [] : [chosen]), ...(warning === null ? [] : [warning])].join('; ') || null;
}

function openEmbeddings(path: string, { vocabularySize, hiddenSize }: QwenConfig): EmbeddingRows {
  try {
    return new EmbeddingRows(path, vocabularySize, hiddenSize);
  } catch (error) {
    throw new Refusal('bad_settings', error instanceof Error ? error.message : String(error));
  }
}

function readTokenizer(folder: string): string {
  const textOf = (file: string) => readText(join(folder, file), TOKENIZER_MAX_BYTES);
  const { vocabulary, merges, tokenizerConfig } = STATIC_FILES;
  return tokenizerJsonOf({ vocabulary: textOf(vocabulary), merges: textOf(merges), config: textOf(tokenizerConfig) });
}

/** Without its large constants, whose files must be there. */
function readWhole(folder: string, name: string): ModelFile {
  const model = readGraph(join(folder, name));
  const files = new Set([...model.constants.values()].flatMap((constant) => placeOf(constant)?.location ?? []));
  const missing = [...files].filter((file) => !existsSync(join(folder, file)));
  if (missing.length === 0) return model;
  throw new Refusal('model_missing', `${folder} lacks ${missing.join(', ')}, expected by ${name}`);
}

function requireInputs({ path, inputs }: ModelFile, expected: readonly string[]): void {
  const names = inputs.map(({ name = '' }) => name);
  if (expected.every((name) => names.includes(name))) return;
  throw new Refusal('bad_settings', `${path}: got the inputs ${names.join(', ')}, expected ${expected.join(', ')}`);
}
