/**
 * Moonshine's graphs as `@moonshine-ai/moonshine-js` ships them: the encoder gives hidden states; the "merged" decoder
 * has an uncached branch that takes many tokens at once and a cached branch that takes one. Every run gives one token
 * more.
 */

import type { ShippedFiles } from '../graph/moonshine.ts';
import { END_TOKEN, HEAD_SIZE, HEADS, LAYERS, START_TOKEN, VOCABULARY_SIZE } from '../graph/moonshine-shape.ts';
import { floatsOf, openSession, type SessionOptions, tensorOf } from '../onnx.ts';
import { type InferenceSession, Tensor } from '../onnxruntime.ts';
import type { Steps } from '../scheduler.ts';
import { cropCache } from './attention-cache.ts';
import type { LogitsText, Said } from './greedy.ts';
import { logprobOf, mostLikely } from './logits.ts';
import { type Decoding, type MoonshineGraphs, type Tensors, tokenTensor } from './moonshine-graphs.ts';

const decoderCaches = cacheNames('decoder');
const encoderCaches = cacheNames('encoder');
const prefillOutputs = ['logits', ...decoderCaches.map(presentOf), ...encoderCaches.map(presentOf)];
const stepOutputs = ['logits', ...decoderCaches.map(presentOf)];

/** Names of the attention caches of one kind, without the prefix that tells input from output. */
function cacheNames(kind: 'decoder' | 'encoder'): string[] {
  return Array.from({ length: LAYERS }, (_, layer) =>
    ['key', 'value'].map((part) => `${layer}.${kind}.${part}`),
  ).flat();
}

function presentOf(cache: string): string {
  return `present.${cache}`;
}

function pastOf(cache: string): string {
  return `past_key_values.${cache}`;
}

/** Opens the two graphs. @throws Refusal when a file or the device is missing. */
export async function openShippedGraphs(files: ShippedFiles, options: SessionOptions): Promise<MoonshineGraphs> {
  const encoder = await openSession(files.encoder, options);
  // Without this key the 37 MB embedding is dequantised anew in every decoder step: a third to a half of the step's
  // time.
  const decoder = await openSession(files.decoder, { ...options, config: { disable_quant_qdq: '1' } });
  return shippedGraphs(encoder, decoder);
}

/** The two graphs in sessions of the caller's own. */
export function shippedGraphs(encoder: InferenceSession, decoder: InferenceSession): MoonshineGraphs {
  return new ShippedGraphs(encoder, decoder);
}

class ShippedGraphs implements MoonshineGraphs {
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;

  constructor(encoder: InferenceSession, decoder: InferenceSession) {
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  // biome-ignore lint/correctness/useYield: it is one run
  async *encode(waveform: Float32Array): Steps<Decoding> {
    const outputs = await this.#encoder.run({ input_values: new Tensor('float32', waveform, [1, waveform.length]) });
    return new ShippedDecoding(this.#decoder, tensorOf(outputs, 'last_hidden_state'));
  }
}

class ShippedDecoding implements Decoding {
  readonly #decoder: InferenceSession;
  readonly #feeds: Tensors;
  #last = END_TOKEN;

  constructor(decoder: InferenceSession, hidden: Tensor) {
    this.#decoder = decoder;
    this.#feeds = { encoder_hidden_states: hidden };
  }

  async start(draft: readonly number[]): Promise<Said> {
    const feeds = {
      ...this.#feeds,
      ...noPast(),
      input_ids: tokenTensor([START_TOKEN, ...draft]),
      use_cache_branch: flag(false),
    };
    const outputs = await this.#decoder.run(feeds, prefillOutputs);
    const logits = floatsOf(outputs, 'logits');
    let accepted = 0;
    while (accepted < draft.length && likeliestAt(logits, accepted) === draft[accepted]) accepted++;
    this.#last = likeliestAt(logits, accepted);
    // The cached branch gives no encoder caches back: those of this run serve every step.
    for (const cache of encoderCaches) this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    for (const cache of decoderCaches)
      this.#feeds[pastOf(cache)] = cropCache(tensorOf(outputs, presentOf(cache)), accepted + 1);
    this.#feeds['use_cache_branch'] = flag(true);
    const tokens = [...draft.slice(0, accepted), this.#last];
    return { tokens, logprobs: tokens.map((token, position) => certaintyOf(logits, position, token)) };
  }

  async more(): Promise<Said> {
    this.#feeds['input_ids'] = tokenTensor([this.#last]);
    const outputs = await this.#decoder.run(this.#feeds, stepOutputs);
    const logits = floatsOf(outputs, 'logits');
    this.#last = likeliestAt(logits, 0);
    for (const cache of decoderCaches) this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    return { tokens: [this.#last], logprobs: [certaintyOf(logits, 0, this.#last)] };
  }

  withLogits(): LogitsText {
    return new ShippedText(this.#decoder, this.#feeds);
  }

  align(): Promise<null> {
    return Promise.resolve(null);
  }
}

/** The cached branch takes one token only, so several go through the other one, from the beginning of the text. */
class ShippedText implements LogitsText {
  readonly #decoder: InferenceSession;
  readonly #feeds: Tensors;
  readonly #tokens: number[] = [];

  constructor(decoder: InferenceSession, speech: Tensors) {
    this.#decoder = decoder;
    this.#feeds = { ...speech };
  }

  get length(): number {
    return this.#tokens.length;
  }

  async add(tokens: readonly number[]): Promise<Float32Array> {
    const isStep = tokens.length === 1 && this.#tokens.length > 0;
    const before = this.#tokens.length;
    this.#tokens.push(...tokens);
    const feeds = isStep
      ? { ...this.#feeds, input_ids: tokenTensor(tokens), use_cache_branch: flag(true) }
      : { ...this.#feeds, ...noPast(), input_ids: tokenTensor(this.#tokens), use_cache_branch: flag(false) };
    const outputs = await this.#decoder.run(feeds, isStep ? stepOutputs : prefillOutputs);
    for (const cache of isStep ? decoderCaches : [...decoderCaches, ...encoderCaches])
      this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    const logits = floatsOf(outputs, 'logits');
    return isStep ? logits : logits.subarray(before * VOCABULARY_SIZE);
  }

  keep(count: number): void {
    this.#tokens.length = count;
    for (const cache of decoderCaches) {
      const kept = this.#feeds[pastOf(cache)];
      if (kept !== undefined) this.#feeds[pastOf(cache)] = cropCache(kept, count);
    }
  }
}

function noPast(): Tensors {
  const empty = new Tensor('float32', new Float32Array(0), [1, HEADS, 0, HEAD_SIZE]);
  return Object.fromEntries([...decoderCaches, ...encoderCaches].map((cache) => [pastOf(cache), empty]));
}

function flag(value: boolean): Tensor {
  return new Tensor('bool', [value], [1]);
}

function likeliestAt(logits: Float32Array, row: number): number {
  return mostLikely(logits, row, VOCABULARY_SIZE);
}

/** The logarithm of the probability of the likeliest token of a row. */
function certaintyOf(logits: Float32Array, row: number, likeliest: number): number {
  return logprobOf(logits, { row, count: VOCABULARY_SIZE, likeliest }, likeliest);
}
