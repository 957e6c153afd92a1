/**
 * The decoder of sherpa-onnx: one graph for prompts and tokens alike. It is given the keys and values of all that was
 * read in arrays with room for more, and returns those of what it read, which are written into them here.
 */
import { floatsOf, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import type { QwenConfig } from './config.ts';
import { type CachedText, type LogitRows, rowsBehind, wholeNumbers, writeGreedily } from './greedy-text.ts';
import type { TextDecoder, TextRequest, WrittenText } from './parts.ts';

type Shape = Pick<QwenConfig, 'vocabularySize' | 'layers' | 'keyValueHeads' | 'headSize'>;

/** Room for so many tokens more is made at a time, where the graph leaves open how much there is. */
const ROOM_TOKENS = 64;

/** Runs `decoder.onnx`. */
export class StaticCacheDecoder implements TextDecoder {
  readonly #session: InferenceSession;
  readonly #shape: Shape;
  /** Tokens of prompt and text together at most; null = no limit. */
  readonly totalTokensMax: number | null;

  constructor(session: InferenceSession, shape: Shape, totalTokensMax: number | null) {
    this.#session = session;
    this.#shape = shape;
    this.totalTokensMax = totalTokensMax;
  }

  /** A text ends where there is no room for more. */
  write(request: TextRequest): Steps<WrittenText> {
    const room = (this.totalTokensMax ?? Number.POSITIVE_INFINITY) - request.prompt.length;
    if (room < 1)
      throw new Error(`got a prompt of ${request.prompt.length} tokens, expected less than ${this.totalTokensMax}`);
    const maxTokens = Math.min(request.maxTokens, room);
    const limited = { ...request, draft: request.draft.slice(0, maxTokens - 1), maxTokens };
    const text = new StaticCacheText(this.#session, limited, { ...this.#shape, capacity: this.totalTokensMax });
    return writeGreedily(text, limited, this.#shape.vocabularySize);
  }
}

class StaticCacheText implements CachedText {
  readonly #session: InferenceSession;
  readonly #request: TextRequest;
  readonly #cache: Cache;

  constructor(session: InferenceSession, request: TextRequest, shape: Shape & { readonly capacity: number | null }) {
    this.#session = session;
    this.#request = request;
    this.#cache = new Cache(shape);
  }

  begin(draft: readonly number[]): Promise<LogitRows> {
    return this.#read(this.#request.prompt, draft, 0);
  }

  add(token: number, draft: readonly number[], length: number): Promise<LogitRows> {
    return this.#read([token], draft, length);
  }

  /** The logits behind `given`, which stand at `from`, and behind each of `draft`. */
  async #read(given: readonly number[], draft: readonly number[], from: number): Promise<LogitRows> {
    const ids = [...given, ...draft];
    const { feeds, firstRow } = rowsBehind(this.#session, given.length, draft.length);
    const { audio } = this.#request;
    const [tokens = 0, width = 0] = audio.dims;
    this.#cache.makeRoom(from + ids.length);
    const outputs = await this.#session.run({
      input_ids: wholeNumbers(ids, [1, ids.length]),
      audio_features: new Tensor('float32', audio.data as Float32Array, [1, tokens, width]),
      attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), [1, ids.length]),
      cache_position: wholeNumbers(
        ids.map((_, index) => from + index),
        [ids.length],
      ),
      ...this.#cache.feeds(),
      ...feeds,
    });
    this.#cache.write(outputs, from);
    return { logits: floatsOf(outputs, 'logits'), firstRow, read: draft };
  }
}

/** Keys and values of each layer, [1, capacity, heads, head size], by the names of the inputs. */
class Cache {
  readonly #shape: Shape & { readonly capacity: number | null };
  readonly #arrays = new Map<string, Float32Array>();
  #capacity: number;

  constructor(shape: Shape & { readonly capacity: number | null }) {
    this.#shape = shape;
    this.#capacity = shape.capacity ?? 0;
    for (const name of this.#names()) this.#arrays.set(name, new Float32Array(this.#capacity * this.#width));
  }

  /** So that `tokens` fit in. */
  makeRoom(tokens: number): void {
    if (tokens <= this.#capacity) return;
    this.#capacity = tokens + ROOM_TOKENS;
    for (const [name, before] of this.#arrays) {
      const array = new Float32Array(this.#capacity * this.#width);
      array.set(before);
      this.#arrays.set(name, array);
    }
  }

  feeds(): Record<string, Tensor> {
    const { keyValueHeads, headSize } = this.#shape;
    const dims = [1, this.#capacity, keyValueHeads, headSize];
    return Object.fromEntries([...this.#arrays].map(([name, array]) => [name, new Tensor('float32', array, dims)]));
  }

  /** Takes over what a run returned of the tokens from `from` on. */
  write(outputs: InferenceSession.OnnxValueMapType, from: number): void {
    for (const [name, array] of this.#arrays) {
      const { data } = tensorOf(outputs, deltaOf(name));
      array.set(data as Float32Array, from * this.#width);
    }
  }

  get #width(): number {
    return this.#shape.keyValueHeads * this.#shape.headSize;
  }

  *#names(): Generator<string> {
    for (let layer = 0; layer < this.#shape.layers; layer++) {
      yield `cache_key_${layer}`;
      yield `cache_value_${layer}`;
    }
  }
}

/** What the graph calls the new part of one of its inputs. */
function deltaOf(cache: string): string {
  return cache.replace(/^cache_(key|value)_/, '$1_delta_');
}
