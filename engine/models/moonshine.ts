/**
 * Moonshine tiny (English), as published in `@moonshine-ai/moonshine-js`: an encoder over the waveform and a decoder with a "merged" graph, whose
 * uncached branch takes many tokens at once and whose cached branch takes one. See the Moonshine paper, arXiv:2410.15608.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import llamaTokenizer from 'llama-tokenizer-js';
import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { ENGINE_RATE_HZ } from '../contract.ts';
import { type Device, floatsOf, openSession, tensorOf } from '../onnx.ts';
import type { Steps } from '../scheduler.ts';
import { collapseLoops } from '../text.ts';
import type { Asr, Recognition } from './model.ts';
import { writeFloats } from './pcm.ts';

const LAYERS = 6;
const HEADS = 8;
const HEAD_SIZE = 36;
/** Logits per position. The tokenizer knows the first 32000; the first three are control tokens. */
const VOCABULARY_SIZE = 32_768;
const TEXT_TOKENS_FROM = 3;
const TEXT_TOKENS_TO = 32_000;
const START_TOKEN = 1;
const END_TOKEN = 2;

/** Nobody speaks faster, so a longer hypothesis is a hallucination. */
const TOKENS_PER_SECOND = 6.5;
const TOKENS_SPARE = 2;

/** The encoder's convolutions need 895 samples; shorter speech is padded to 100 ms with silence, which does no harm at the end. */
const SAMPLES_MIN = ENGINE_RATE_HZ / 10;

/** Decoder steps of a warm-up, and the text token that is forced upon them: a model that hears no words would end at once. */
const WARM_UP_STEPS = 8;
const WARM_UP_TOKEN = 278;

type Tensors = Record<string, Tensor>;

const KEY_OR_VALUE = ['key', 'value'];
const decoderCaches = cacheNames('decoder');
const encoderCaches = cacheNames('encoder');
const prefillOutputs = ['logits', ...decoderCaches.map(presentOf), ...encoderCaches.map(presentOf)];
const stepOutputs = ['logits', ...decoderCaches.map(presentOf)];

/** Names of the attention caches of one kind, without the prefix that tells input from output. */
function cacheNames(kind: 'decoder' | 'encoder'): string[] {
  return Array.from({ length: LAYERS }, (_, layer) => KEY_OR_VALUE.map((part) => `${layer}.${kind}.${part}`)).flat();
}

function presentOf(cache: string): string {
  return `present.${cache}`;
}

function pastOf(cache: string): string {
  return `past_key_values.${cache}`;
}

/**
 * Opens the two graphs.
 * @param threads intra-op threads of one run.
 * @throws Refusal when a file or the device is missing.
 */
export async function loadMoonshine(options: { device: Device; threads: number }): Promise<Asr> {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('@moonshine-ai/moonshine-js'))), 'model', 'tiny', 'quantized');
  const encoder = await openSession(join(folder, 'encoder_model.onnx'), options);
  // Without this key the 37 MB embedding is dequantised anew in every decoder step: a third to a half of the step's time.
  const config = { disable_quant_qdq: '1' };
  const decoder = await openSession(join(folder, 'decoder_model_merged.onnx'), { ...options, config });
  return new Moonshine(encoder, decoder, options.device);
}

class Moonshine implements Asr {
  readonly name = 'moonshine-tiny';
  readonly provider: 'cpu' | 'cuda';
  readonly vocabularySize = VOCABULARY_SIZE;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;

  constructor(encoder: InferenceSession, decoder: InferenceSession, device: Device) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.provider = device.provider;
  }

  async *transcribe(samples: Int16Array, draft: readonly number[]): Steps<Recognition> {
    if (samples.length === 0) return { text: '', tokens: [], looped: false };
    const maxTokens = Math.ceil((samples.length / ENGINE_RATE_HZ) * TOKENS_PER_SECOND) + TOKENS_SPARE;
    const decoding = new Decoding(this.#decoder, await this.#encode(samples));
    yield;
    const tokens = await decoding.start(usableDraft(draft, maxTokens - 1));
    for (let next = decoding.next; next !== END_TOKEN && tokens.length < maxTokens; next = decoding.next) {
      tokens.push(next);
      if (tokens.length === maxTokens) break;
      yield;
      await decoding.step(next);
    }
    return toRecognition(tokens);
  }

  async warmUp(samples: Int16Array): Promise<void> {
    const decoding = new Decoding(this.#decoder, await this.#encode(samples));
    await decoding.start(Array.from({ length: WARM_UP_STEPS }, () => WARM_UP_TOKEN));
    for (let i = 0; i < WARM_UP_STEPS; i++) await decoding.step(WARM_UP_TOKEN);
  }

  async #encode(samples: Int16Array): Promise<Tensor> {
    const waveform = new Float32Array(Math.max(samples.length, SAMPLES_MIN));
    writeFloats(samples, waveform, 0);
    const outputs = await this.#encoder.run({ input_values: new Tensor('float32', waveform, [1, waveform.length]) });
    return tensorOf(outputs, 'last_hidden_state');
  }
}

/** One utterance on its way through the decoder: the caches so far, and what the model would say next. */
class Decoding {
  readonly #decoder: InferenceSession;
  readonly #feeds: Tensors;
  #next = END_TOKEN;

  constructor(decoder: InferenceSession, hidden: Tensor) {
    this.#decoder = decoder;
    this.#feeds = { encoder_hidden_states: hidden };
  }

  /** The most likely token after those decoded so far. */
  get next(): number {
    return this.#next;
  }

  /** Begins the hypothesis, verifying all of `draft` in one run. Returns the longest beginning of it that the model agrees with. */
  async start(draft: readonly number[]): Promise<number[]> {
    const feeds = { ...this.#feeds, ...noPast(), input_ids: tokenTensor([START_TOKEN, ...draft]), use_cache_branch: flag(false) };
    const outputs = await this.#decoder.run(feeds, prefillOutputs);
    const logits = floatsOf(outputs, 'logits');
    let accepted = 0;
    while (accepted < draft.length && mostLikely(logits, accepted) === draft[accepted]) accepted++;
    this.#next = mostLikely(logits, accepted);
    // The cached branch gives no encoder caches back: those of this run serve every step.
    for (const cache of encoderCaches) this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    for (const cache of decoderCaches) this.#feeds[pastOf(cache)] = crop(tensorOf(outputs, presentOf(cache)), accepted + 1);
    this.#feeds['use_cache_branch'] = flag(true);
    return draft.slice(0, accepted);
  }

  /** Takes `token` as said. */
  async step(token: number): Promise<void> {
    this.#feeds['input_ids'] = tokenTensor([token]);
    const outputs = await this.#decoder.run(this.#feeds, stepOutputs);
    this.#next = mostLikely(floatsOf(outputs, 'logits'), 0);
    for (const cache of decoderCaches) this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
  }
}

/** A draft ends before its end token and leaves room for at least one token more. */
function usableDraft(draft: readonly number[], maxTokens: number): readonly number[] {
  const end = draft.indexOf(END_TOKEN);
  return draft.slice(0, Math.min(maxTokens, end === -1 ? draft.length : end));
}

function toRecognition(decoded: readonly number[]): Recognition {
  const { tokens, looped } = collapseLoops(decoded);
  const words = tokens.filter((token) => token >= TEXT_TOKENS_FROM && token < TEXT_TOKENS_TO);
  return { text: llamaTokenizer.decode(words, false, false).trim(), tokens: looped ? [] : tokens, looped };
}

function noPast(): Tensors {
  const empty = new Tensor('float32', new Float32Array(0), [1, HEADS, 0, HEAD_SIZE]);
  return Object.fromEntries([...decoderCaches, ...encoderCaches].map((cache) => [pastOf(cache), empty]));
}

function tokenTensor(tokens: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
}

function flag(value: boolean): Tensor {
  return new Tensor('bool', [value], [1]);
}

/** Index of the largest logit of one position; read in place, for this is 32768 floats in every step. */
function mostLikely(logits: Float32Array, position: number): number {
  const from = position * VOCABULARY_SIZE;
  let best = from;
  let bestLogit = Number.NEGATIVE_INFINITY;
  for (let i = from; i < from + VOCABULARY_SIZE; i++) {
    const logit = logits[i] ?? Number.NaN;
    if (logit > bestLogit) {
      bestLogit = logit;
      best = i;
    }
  }
  return best - from;
}

/** The first `positions` of a cache of [1, heads, length, head size]. */
function crop(cache: Tensor, positions: number): Tensor {
  const length = cache.dims[2] ?? 0;
  if (positions === length) return cache;
  const data = cache.data as Float32Array;
  const kept = new Float32Array(HEADS * positions * HEAD_SIZE);
  for (let head = 0; head < HEADS; head++) {
    const start = head * length * HEAD_SIZE;
    kept.set(data.subarray(start, start + positions * HEAD_SIZE), head * positions * HEAD_SIZE);
  }
  return new Tensor('float32', kept, [1, HEADS, positions, HEAD_SIZE]);
}
