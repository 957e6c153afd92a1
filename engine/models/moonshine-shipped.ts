/**
 * Moonshine's graphs as they are published, those of `@moonshine-ai/moonshine-js` among them: the encoder gives hidden
 * states; the "merged" decoder has an uncached branch that takes many tokens at once and a cached branch that takes
 * one. Every run gives one token more. Newer exports also want a mask of the waveform.
 */

import type { ShippedFiles } from '../graph/moonshine.ts';
import { END_TOKEN, START_TOKEN } from '../graph/moonshine-shape.ts';
import { floatsOf, openSession, type SessionOptions, tensorOf } from '../onnx.ts';
import { type InferenceSession, Tensor } from '../onnxruntime.ts';
import type { Steps } from '../scheduler.ts';
import { cropCache } from './attention-cache.ts';
import type { BranchingText } from './expected-words.ts';
import type { Said } from './greedy.ts';
import { logprobOf, mostLikely } from './logits.ts';
import {
  type DecoderShape,
  flag,
  MASK,
  MergedText,
  noPast,
  pastOf,
  prefillOutputsOf,
  presentOf,
  shapeOfDecoder,
  stepOutputsOf,
} from './merged-decoder.ts';
import { type Decoding, type MoonshineGraphs, type Tensors, tokenTensor } from './moonshine-graphs.ts';

/** Opens the two graphs. @throws Refusal when a file or the device is missing. */
export async function openShippedGraphs(files: ShippedFiles, options: SessionOptions): Promise<ShippedGraphs> {
  const encoder = await openSession(files.encoder, options);
  // Without this key the 37 MB embedding is dequantised anew in every decoder step: a third to a half of the step's
  // time.
  const decoder = await openSession(files.decoder, { ...options, config: { disable_quant_qdq: '1' } });
  return new ShippedGraphs(encoder, decoder);
}

/** The two graphs in sessions of the caller's own. */
export function shippedGraphs(encoder: InferenceSession, decoder: InferenceSession): MoonshineGraphs {
  return new ShippedGraphs(encoder, decoder);
}

class ShippedGraphs implements MoonshineGraphs {
  readonly shape: DecoderShape;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;

  constructor(encoder: InferenceSession, decoder: InferenceSession) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.shape = shapeOfDecoder(decoder);
  }

  // biome-ignore lint/correctness/useYield: it is one run
  async *encode(waveform: Float32Array): Steps<Decoding> {
    const dims = [1, waveform.length];
    const [input = 'input_values', mask] = this.#encoder.inputNames;
    const feeds: Tensors = { [input]: new Tensor('float32', waveform, dims) };
    const everything = new Tensor('int64', new BigInt64Array(waveform.length).fill(1n), dims);
    if (mask !== undefined) feeds[mask] = everything;
    const hidden = tensorOf(await this.#encoder.run(feeds), 'last_hidden_state');
    const speech: Tensors = { encoder_hidden_states: hidden };
    if (this.shape.takesMask) speech[MASK] = everything;
    return new ShippedDecoding(this.#decoder, this.shape, speech);
  }
}

class ShippedDecoding implements Decoding {
  readonly #decoder: InferenceSession;
  readonly #shape: DecoderShape;
  readonly #feeds: Tensors;
  #last = END_TOKEN;

  constructor(decoder: InferenceSession, shape: DecoderShape, speech: Tensors) {
    this.#decoder = decoder;
    this.#shape = shape;
    this.#feeds = { ...speech };
  }

  async start(draft: readonly number[]): Promise<Said> {
    const feeds = {
      ...this.#feeds,
      ...noPast(this.#shape),
      input_ids: tokenTensor([START_TOKEN, ...draft]),
      use_cache_branch: flag(false),
    };
    const { vocabularySize, decoderCaches, encoderCaches } = this.#shape;
    const outputs = await this.#decoder.run(feeds, prefillOutputsOf(this.#shape));
    const logits = floatsOf(outputs, 'logits');
    const likeliestAt = (row: number) => mostLikely(logits, row, vocabularySize);
    let accepted = 0;
    while (accepted < draft.length && likeliestAt(accepted) === draft[accepted]) accepted++;
    this.#last = likeliestAt(accepted);
    // The cached branch gives no encoder caches back: those of this run serve every step.
    for (const cache of encoderCaches) this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    for (const cache of decoderCaches)
      this.#feeds[pastOf(cache)] = cropCache(tensorOf(outputs, presentOf(cache)), accepted + 1);
    this.#feeds['use_cache_branch'] = flag(true);
    const tokens = [...draft.slice(0, accepted), this.#last];
    return { tokens, logprobs: tokens.map((token, row) => this.#certaintyOf(logits, row, token)) };
  }

  async more(): Promise<Said> {
    this.#feeds['input_ids'] = tokenTensor([this.#last]);
    const { vocabularySize, decoderCaches } = this.#shape;
    const outputs = await this.#decoder.run(this.#feeds, stepOutputsOf(this.#shape));
    const logits = floatsOf(outputs, 'logits');
    this.#last = mostLikely(logits, 0, vocabularySize);
    for (const cache of decoderCaches) this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    return { tokens: [this.#last], logprobs: [this.#certaintyOf(logits, 0, this.#last)] };
  }

  withLogits(): BranchingText {
    return new MergedText(this.#decoder, this.#shape, this.#feeds);
  }

  /** The logarithm of the probability of the likeliest token of a row. */
  #certaintyOf(logits: Float32Array, row: number, likeliest: number): number {
    return logprobOf(logits, { row, count: this.#shape.vocabularySize, likeliest }, likeliest);
  }

  align(): Promise<null> {
    return Promise.resolve(null);
  }
}
