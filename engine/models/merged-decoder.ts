/**
 * The "merged" decoder of Hugging Face optimum, as Moonshine and Whisper are published: one graph whose uncached branch
 * takes many tokens at once and whose cached branch takes one.
 */
import { floatsOf, tensorOf } from '../onnx.ts';
import { type InferenceSession, Tensor } from '../onnxruntime.ts';
import { cropCache } from './attention-cache.ts';
import type { BranchingText } from './expected-words.ts';
import { type Tensors, tokenTensor } from './moonshine-graphs.ts';
import { widthOf } from './moonshine-streaming/graph-shape.ts';

/** The mask of the speech that some graphs want. */
export const MASK = 'encoder_attention_mask';

/** What a decoder's graph says of itself. */
export interface DecoderShape {
  readonly heads: number;
  readonly headSize: number;
  readonly vocabularySize: number;
  /** Names of the attention caches of one kind, without the prefix that tells input from output. */
  readonly decoderCaches: readonly string[];
  readonly encoderCaches: readonly string[];
  readonly takesMask: boolean;
}

/** What an open graph says. @throws ModelFileError when it is no such graph */
export function shapeOfDecoder({ inputMetadata, outputMetadata, inputNames }: InferenceSession): DecoderShape {
  const caches = (kind: 'decoder' | 'encoder') =>
    inputNames.filter((name) => name.includes(`.${kind}.`)).map((name) => name.replace(pastOf(''), ''));
  const [decoderCaches, encoderCaches] = [caches('decoder'), caches('encoder')];
  const first = pastOf(decoderCaches[0] ?? '0.decoder.key');
  return {
    heads: widthOf(inputMetadata, first, 1),
    headSize: widthOf(inputMetadata, first, 3),
    vocabularySize: widthOf(outputMetadata, 'logits', 2),
    decoderCaches,
    encoderCaches,
    takesMask: inputNames.includes(MASK),
  };
}

/** What a run of the uncached branch gives that is kept. */
export function prefillOutputsOf({ decoderCaches, encoderCaches }: DecoderShape): string[] {
  return ['logits', ...decoderCaches.map(presentOf), ...encoderCaches.map(presentOf)];
}

/** What a run of the cached branch gives: it gives no caches of the speech back. */
export function stepOutputsOf({ decoderCaches }: DecoderShape): string[] {
  return ['logits', ...decoderCaches.map(presentOf)];
}

/** The output that a cache comes out of. */
export function presentOf(cache: string): string {
  return `present.${cache}`;
}

/** The input that a cache goes into. */
export function pastOf(cache: string): string {
  return `past_key_values.${cache}`;
}

/** The cached branch takes one token only, so several go through the other one, from the beginning of the text. */
export class MergedText implements BranchingText {
  readonly #decoder: InferenceSession;
  readonly #shape: DecoderShape;
  readonly #feeds: Tensors;
  readonly #tokens: number[] = [];

  constructor(decoder: InferenceSession, shape: DecoderShape, speech: Tensors) {
    this.#decoder = decoder;
    this.#shape = shape;
    this.#feeds = { ...speech };
  }

  branch(): BranchingText {
    const same = new MergedText(this.#decoder, this.#shape, this.#feeds);
    same.#tokens.push(...this.#tokens);
    return same;
  }

  get length(): number {
    return this.#tokens.length;
  }

  async add(tokens: readonly number[]): Promise<Float32Array> {
    const { decoderCaches, encoderCaches, vocabularySize } = this.#shape;
    const isStep = tokens.length === 1 && this.#tokens.length > 0;
    const before = this.#tokens.length;
    this.#tokens.push(...tokens);
    const feeds = isStep
      ? { ...this.#feeds, input_ids: tokenTensor(tokens), use_cache_branch: flag(true) }
      : { ...this.#feeds, ...noPast(this.#shape), input_ids: tokenTensor(this.#tokens), use_cache_branch: flag(false) };
    const names = isStep ? stepOutputsOf(this.#shape) : prefillOutputsOf(this.#shape);
    const outputs = await this.#decoder.run(feeds, names);
    for (const cache of isStep ? decoderCaches : [...decoderCaches, ...encoderCaches])
      this.#feeds[pastOf(cache)] = tensorOf(outputs, presentOf(cache));
    const logits = floatsOf(outputs, 'logits');
    return isStep ? logits : logits.subarray(before * vocabularySize);
  }

  keep(count: number): void {
    this.#tokens.length = count;
    for (const cache of this.#shape.decoderCaches) {
      const kept = this.#feeds[pastOf(cache)];
      if (kept !== undefined) this.#feeds[pastOf(cache)] = cropCache(kept, count);
    }
  }
}

/** The caches of a text that has not begun. */
export function noPast({ heads, headSize, decoderCaches, encoderCaches }: DecoderShape): Tensors {
  const empty = new Tensor('float32', new Float32Array(0), [1, heads, 0, headSize]);
  return Object.fromEntries([...decoderCaches, ...encoderCaches].map((cache) => [pastOf(cache), empty]));
}

/** For the input `use_cache_branch`. */
export function flag(value: boolean): Tensor {
  return new Tensor('bool', [value], [1]);
}
