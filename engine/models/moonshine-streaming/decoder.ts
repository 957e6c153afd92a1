/** The decoder as it is published: tokens in, logits out. Its caches of the tokens before travel from run to run. */
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import { type Tensors, tokenTensor } from '../moonshine-graphs.ts';
import type { StreamingConfig } from './config.ts';
import type { CrossKv } from './hearing.ts';

/** An open decoder. */
export class Decoder {
  readonly #session: InferenceSession;
  readonly #config: StreamingConfig;

  private constructor(session: InferenceSession, config: StreamingConfig) {
    this.#session = session;
    this.#config = config;
  }

  /** @throws whatever openSession throws */
  static async open(file: string, config: StreamingConfig, options: SessionOptions): Promise<Decoder> {
    return new Decoder(await openSession(file, options), config);
  }

  /** Begins a text about `speech`. */
  begin(speech: CrossKv): DecoderText {
    return new DecoderText(this.#session, this.#config, speech);
  }
}

/** One text as far as it was decoded. */
export class DecoderText {
  readonly #session: InferenceSession;
  readonly #feeds: Tensors;

  constructor(session: InferenceSession, { layers, heads, headSize }: StreamingConfig, { keys, values }: CrossKv) {
    this.#session = session;
    const none = new Tensor('float32', new Float32Array(0), [layers, 1, heads, 0, headSize]);
    this.#feeds = { k_self: none, v_self: none, out_k_cross: keys, out_v_cross: values };
  }

  /** One model run: adds tokens to the text. The logits behind each of them, [tokens, vocabulary]. */
  async add(tokens: readonly number[]): Promise<Float32Array> {
    const outputs = await this.#session.run({ ...this.#feeds, token: tokenTensor(tokens) }, [
      'logits',
      'out_k_self',
      'out_v_self',
    ]);
    this.#feeds['k_self'] = tensorOf(outputs, 'out_k_self');
    this.#feeds['v_self'] = tensorOf(outputs, 'out_v_self');
    return tensorOf(outputs, 'logits').data as Float32Array;
  }

  /** Forgets all tokens but the first `count`. */
  keep(count: number): void {
    for (const name of ['k_self', 'v_self']) this.#feeds[name] = cropped(this.#feeds[name] as Tensor, count);
  }
}

/** The first `count` positions of a cache [layers, 1, heads, positions, head size]. */
function cropped(cache: Tensor, count: number): Tensor {
  const [layers = 0, , heads = 0, positions = 0, size = 0] = cache.dims;
  if (positions === count) return cache;
  const numbers = cache.data as Float32Array;
  const kept = new Float32Array(layers * heads * count * size);
  for (let head = 0; head < layers * heads; head++) {
    const from = head * positions * size;
    kept.set(numbers.subarray(from, from + count * size), head * count * size);
  }
  return new Tensor('float32', kept, [layers, 1, heads, count, size]);
}
