/** The decoder as it is published: tokens in, logits out. Its caches of the tokens before travel from run to run. */
import { openSession, type SessionOptions, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import { cropCache } from '../attention-cache.ts';
import type { LogitsText } from '../greedy.ts';
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
export class DecoderText implements LogitsText {
  readonly #session: InferenceSession;
  readonly #feeds: Tensors;

  constructor(session: InferenceSession, { layers, heads, headSize }: StreamingConfig, { keys, values }: CrossKv) {
    this.#session = session;
    const none = new Tensor('float32', new Float32Array(0), [layers, 1, heads, 0, headSize]);
    this.#feeds = { k_self: none, v_self: none, out_k_cross: keys, out_v_cross: values };
  }

  get length(): number {
    return this.#feeds['k_self']?.dims[3] ?? 0;
  }

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

  keep(count: number): void {
    for (const name of ['k_self', 'v_self']) this.#feeds[name] = cropCache(this.#feeds[name] as Tensor, count);
  }
}
