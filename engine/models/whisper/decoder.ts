/** Whisper's decoder: tokens in, logits out, and how much it attends to which place of the speech. */
import { dirname } from 'node:path';
import { partBytes } from '../../graph/cut.ts';
import type { ModelFile } from '../../graph/model-file.ts';
import { attentionGraph } from '../../graph/whisper.ts';
import { floatsOf, openGraph, openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import type { InferenceSession, Tensor } from '../../onnxruntime.ts';
import { cropCache } from '../attention-cache.ts';
import { ModelFileError } from '../folder-files.ts';
import type { LogitsText } from '../greedy.ts';
import { type DecoderShape, flag, MergedText, noPast, pastOf, presentOf, shapeOfDecoder } from '../merged-decoder.ts';
import { type Tensors, tokenTensor } from '../moonshine-graphs.ts';
import type { AligningHead, WhisperConfig } from './config.ts';

const ALIGNMENT = 'alignment';

/** Of some heads, the shares of each token's attention: [heads, tokens, frames] in one array. */
export interface SpeechAttention {
  readonly shares: Float32Array;
  readonly tokens: number;
  readonly frames: number;
}

/** A decoder that is open. */
export interface WhisperDecoder {
  /** Begins a text about `speech`. */
  begin(speech: Tensors): LogitsText;
  /** One model run: the attention of the heads that follow the speech; null = the graph does not show it. */
  attend(tokens: readonly number[], speech: Tensors): Promise<SpeechAttention | null>;
}

/** Opens our exporter's graph. @throws ModelFileError when it is another's; whatever openSession throws */
export async function openStepDecoder(
  model: ModelFile,
  config: WhisperConfig,
  options: SessionOptions,
): Promise<WhisperDecoder> {
  const session = await openSession(model.path, options);
  const shape = checkShape(shapeOfDecoder(session), config);
  return {
    begin: (speech) => new StepText(session, shape, speech),
    attend: async (tokens, speech) => {
      const feeds = { ...noPast(shape), ...speech, input_ids: tokenTensor(tokens) };
      const { data, dims } = tensorOf(await session.run(feeds, [ALIGNMENT]), ALIGNMENT);
      return { shares: data as Float32Array, tokens: dims[1] ?? 0, frames: dims[2] ?? 0 };
    },
  };
}

/** Opens a merged decoder. @throws ModelFileError when it is another's; whatever openSession throws */
export async function openMergedDecoder(
  model: ModelFile,
  config: WhisperConfig,
  options: SessionOptions,
): Promise<WhisperDecoder> {
  const session = await openSession(model.path, { ...options, config: { disable_quant_qdq: '1' } });
  const shape = checkShape(shapeOfDecoder(session), config);
  const type = session.inputMetadata.find(({ name }) => name === pastOf(shape.decoderCaches[0] ?? ''));
  if (type?.isTensor && type.type !== 'float32')
    throw new ModelFileError(
      `${model.path}: its caches are ${type.type}, expected float32: use files of other weights`,
    );
  const attention = new BranchAttention(model, session, config, options);
  return {
    begin: (speech) => new MergedText(session, shape, speech),
    attend: (tokens, speech) => attention.of(tokens, speech, shape),
  };
}

function checkShape(shape: DecoderShape, { layers, heads, vocabularySize }: WhisperConfig): DecoderShape {
  const got = [shape.decoderCaches.length / 2, shape.heads, shape.vocabularySize];
  const expected = [layers, heads, vocabularySize];
  if (got.every((value, index) => value === expected[index])) return shape;
  throw new ModelFileError(
    `the decoder has ${got.join(', ')} layers, heads and tokens, expected ${expected.join(', ')} by config.json`,
  );
}

/** One text as far as it was decoded, with caches that the graph takes as they are. */
class StepText implements LogitsText {
  readonly #session: InferenceSession;
  readonly #caches: readonly string[];
  readonly #outputs: readonly string[];
  readonly #feeds: Tensors;

  constructor(session: InferenceSession, shape: DecoderShape, speech: Tensors) {
    this.#session = session;
    this.#caches = shape.decoderCaches;
    this.#outputs = ['logits', ...shape.decoderCaches.map(presentOf)];
    this.#feeds = { ...noPast(shape), ...speech };
  }

  get length(): number {
    return this.#feeds[pastOf(this.#caches[0] ?? '')]?.dims[2] ?? 0;
  }

  async add(tokens: readonly number[]): Promise<Float32Array> {
    const outputs = await this.#session.run({ ...this.#feeds, input_ids: tokenTensor(tokens) }, this.#outputs);
    for (const cache of this.#caches) this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    return floatsOf(outputs, 'logits');
  }

  keep(count: number): void {
    for (const cache of this.#caches) {
      const kept = this.#feeds[pastOf(cache)];
      if (kept !== undefined) this.#feeds[pastOf(cache)] = cropCache(kept, count);
    }
  }
}

/**
 * The attention of a merged decoder: an output where it was exported so, otherwise of a graph made of its uncached
 * branch, which is opened when it is wanted first.
 */
class BranchAttention {
  readonly #model: ModelFile;
  readonly #session: InferenceSession;
  readonly #config: WhisperConfig;
  readonly #options: SessionOptions;
  #branch: Promise<InferenceSession | null> | null = null;

  constructor(model: ModelFile, session: InferenceSession, config: WhisperConfig, options: SessionOptions) {
    this.#model = model;
    this.#session = session;
    this.#config = config;
    this.#options = options;
  }

  async of(tokens: readonly number[], speech: Tensors, shape: DecoderShape): Promise<SpeechAttention | null> {
    const feeds = { ...speech, input_ids: tokenTensor(tokens) };
    const shown = Array.from({ length: this.#config.layers }, (_, layer) => `cross_attentions.${layer}`);
    if (shown.every((name) => this.#session.outputNames.includes(name))) {
      const outputs = await this.#session.run({ ...noPast(shape), ...feeds, use_cache_branch: flag(false) }, shown);
      return this.#select(shown.map((name) => tensorOf(outputs, name)));
    }
    this.#branch ??= this.#open();
    const branch = await this.#branch;
    if (branch === null) return null;
    const outputs = await branch.run(feeds);
    return this.#select(branch.outputNames.map((name) => tensorOf(outputs, name)));
  }

  async #open(): Promise<InferenceSession | null> {
    try {
      const { model, part } = attentionGraph(this.#model, this.#config.layers);
      return await openGraph(
        partBytes(model, part, () => undefined),
        dirname(model.path),
        this.#options,
      );
    } catch {
      // A graph that was built otherwise: its words have no times.
      return null;
    }
  }

  /** Of each layer [1, heads, tokens, positions]. */
  #select(layers: readonly Tensor[]): SpeechAttention {
    const [, , tokens = 0, frames = 0] = layers[0]?.dims ?? [];
    const size = tokens * frames;
    const heads = alignersOf(this.#config);
    const shares = new Float32Array(heads.length * size);
    for (const [index, { layer, head }] of heads.entries()) {
      const data = layers[layer]?.data as Float32Array;
      shares.set(data.subarray(head * size, (head + 1) * size), index * size);
    }
    return { shares, tokens, frames };
  }
}

/** Those that the publisher names, or all of the upper half, as Whisper's authors take them. */
function alignersOf({ aligningHeads, layers, heads }: WhisperConfig): readonly AligningHead[] {
  if (aligningHeads.length > 0) return aligningHeads;
  const upper = Array.from({ length: layers - Math.floor(layers / 2) }, (_, index) => Math.floor(layers / 2) + index);
  return upper.flatMap((layer) => Array.from({ length: heads }, (_, head) => ({ layer, head })));
}
