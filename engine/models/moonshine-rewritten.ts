/**
 * Moonshine's graphs as engine/graph/ rewrites them: a decoder run gives many tokens, and returns only tokens,
 * their probabilities and the caches for the next run.
 */

import type { RewrittenFiles } from '../graph/moonshine.ts';
import {
  ALIGNING_LAYER,
  CROSS_NAMES,
  END_TOKEN,
  FRAME_SAMPLES,
  FRAMES_NAME,
  HEAD_SIZE,
  HEADS,
  NEXT_FRAMES_NAME,
  PAST_NAMES,
  PRESENT_NAMES,
  START_TOKEN,
  VOCABULARY_SIZE,
} from '../graph/moonshine-shape.ts';
import { floatsOf, openSession, type SessionOptions, tensorOf } from '../onnx.ts';
import { type InferenceSession, Tensor } from '../onnxruntime.ts';
import type { Steps } from '../scheduler.ts';
import { cropCache } from './attention-cache.ts';
import type { BranchingText } from './expected-words.ts';
import type { Said } from './greedy.ts';
import { mostLikely } from './logits.ts';
import { alignTokens } from './moonshine-alignment.ts';
import { type Decoding, type MoonshineGraphs, type Tensors, tokenTensor } from './moonshine-graphs.ts';

/** The keys that the aligning layer's queries are for. */
const ALIGNING_KEYS = CROSS_NAMES[2 * ALIGNING_LAYER] ?? '';

const TEXT_OUTPUTS = ['tokens', 'accepted', 'logits', ...PRESENT_NAMES];
const OUTPUTS = ['tokens', 'accepted', 'logprobs', ...PRESENT_NAMES];

/**
 * Opens the graphs and closes their files.
 * @param runTokens tokens of one decoder run at most, besides a draft.
 * @throws whatever onnxruntime throws for a file that it cannot read.
 */
export async function openRewrittenGraphs(
  files: RewrittenFiles,
  options: SessionOptions,
  runTokens: number,
): Promise<MoonshineGraphs> {
  try {
    // The largest comes first: what loading it leaves free in the heap is enough for the others.
    const decoder = await openSession(files.decoder, options);
    const encoder: InferenceSession[] = [];
    for (const file of files.encoder) encoder.push(await openSession(file, options));
    return new RewrittenGraphs(encoder, decoder, runTokens);
  } finally {
    await files.close();
  }
}

class RewrittenGraphs implements MoonshineGraphs {
  readonly #encoder: readonly InferenceSession[];
  readonly #decoder: InferenceSession;
  readonly #runTokens: number;

  constructor(encoder: readonly InferenceSession[], decoder: InferenceSession, runTokens: number) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#runTokens = runTokens;
  }

  async *encode(waveform: Float32Array): Steps<Decoding> {
    let feeds: Tensors = { input_values: new Tensor('float32', waveform, [1, waveform.length]) };
    let outputs: InferenceSession.OnnxValueMapType = {};
    for (const [index, part] of this.#encoder.entries()) {
      if (index > 0) {
        feeds = { [FRAMES_NAME]: tensorOf(outputs, NEXT_FRAMES_NAME) };
        yield;
      }
      outputs = await part.run(feeds);
    }
    const speech = Object.fromEntries(CROSS_NAMES.map((name) => [name, tensorOf(outputs, name)]));
    return new RewrittenDecoding(this.#decoder, speech, this.#runTokens);
  }
}

class RewrittenDecoding implements Decoding {
  readonly #decoder: InferenceSession;
  readonly #speech: Tensors;
  readonly #feeds: Tensors;
  #last = END_TOKEN;

  constructor(decoder: InferenceSession, speech: Tensors, runTokens: number) {
    this.#decoder = decoder;
    this.#speech = speech;
    this.#feeds = { ...speech, ...noPast(), max_steps: stepsTensor(runTokens) };
  }

  start(draft: readonly number[]): Promise<Said> {
    return this.#run([START_TOKEN, ...draft]);
  }

  more(): Promise<Said> {
    return this.#run([this.#last]);
  }

  withLogits(): BranchingText {
    return new RewrittenText(this.#decoder, this.#speech);
  }

  /** The first turn of the loop finds each of the tokens in the speech, even those that the model would not choose. */
  async align(tokens: readonly number[]): Promise<number[]> {
    const feeds = {
      ...this.#speech,
      ...noPast(),
      max_steps: stepsTensor(1),
      input_ids: tokenTensor([START_TOKEN, ...tokens]),
    };
    const queries = floatsOf(await this.#decoder.run(feeds, ['queries']), 'queries');
    return alignTokens({ queries, keys: floatsOf(this.#speech, ALIGNING_KEYS) }).map((frame) => frame * FRAME_SAMPLES);
  }

  /** Takes a token that is certain and the draft that follows it. */
  async #run(tokens: readonly number[]): Promise<Said> {
    this.#feeds['input_ids'] = tokenTensor(tokens);
    const outputs = await this.#decoder.run(this.#feeds, OUTPUTS);
    for (const [index, name] of PAST_NAMES.entries()) this.#feeds[name] = tensorOf(outputs, PRESENT_NAMES[index] ?? '');
    const said = numbersOf(outputs, 'tokens');
    this.#last = said.at(-1) ?? END_TOKEN;
    const [accepted = 0] = numbersOf(outputs, 'accepted');
    return {
      tokens: [...tokens.slice(1, 1 + accepted), ...said],
      logprobs: Array.from(floatsOf(outputs, 'logprobs')),
    };
  }
}

/** One turn of the loop at a time. */
class RewrittenText implements BranchingText {
  readonly #decoder: InferenceSession;
  readonly #feeds: Tensors;

  constructor(decoder: InferenceSession, speech: Tensors) {
    this.#decoder = decoder;
    this.#feeds = { ...noPast(), max_steps: stepsTensor(1), ...speech };
  }

  branch(): BranchingText {
    return new RewrittenText(this.#decoder, this.#feeds);
  }

  get length(): number {
    return this.#feeds[PAST_NAMES[0] ?? '']?.dims[2] ?? 0;
  }

  /** The graph keeps only the tokens that it would have chosen itself, and the first. */
  async add(tokens: readonly number[]): Promise<Float32Array> {
    const outputs = await this.#decoder.run({ ...this.#feeds, input_ids: tokenTensor(tokens) }, TEXT_OUTPUTS);
    for (const [index, name] of PAST_NAMES.entries()) this.#feeds[name] = tensorOf(outputs, PRESENT_NAMES[index] ?? '');
    const [accepted = 0] = numbersOf(outputs, 'accepted');
    const [next = END_TOKEN] = numbersOf(outputs, 'tokens');
    const logits = floatsOf(outputs, 'logits').subarray(0, (accepted + 1) * VOCABULARY_SIZE);
    for (let row = 0; row <= accepted; row++) putFirst(logits, row, row < accepted ? (tokens[row + 1] ?? next) : next);
    return logits;
  }

  keep(count: number): void {
    for (const name of PAST_NAMES) this.#feeds[name] = cropCache(this.#feeds[name] as Tensor, count);
  }
}

/** The logits are rounded more than those by which the graph chooses: its choice is made the likeliest here, too. */
function putFirst(logits: Float32Array, row: number, chosen: number): void {
  const from = row * VOCABULARY_SIZE;
  const likeliest = mostLikely(logits, row, VOCABULARY_SIZE);
  if (likeliest === chosen) return;
  const [most = 0, least = 0] = [logits[from + likeliest], logits[from + chosen]];
  [logits[from + likeliest], logits[from + chosen]] = [least, most];
}

function noPast(): Tensors {
  const empty = new Tensor('float32', new Float32Array(0), [1, HEADS, 0, HEAD_SIZE]);
  return Object.fromEntries(PAST_NAMES.map((name) => [name, empty]));
}

function stepsTensor(steps: number): Tensor {
  return new Tensor('int64', BigInt64Array.of(BigInt(steps)), []);
}

function numbersOf(outputs: InferenceSession.OnnxValueMapType, name: string): number[] {
  return Array.from(tensorOf(outputs, name).data as BigInt64Array, Number);
}
