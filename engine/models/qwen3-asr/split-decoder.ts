/**
 * The decoder of andrewleech/qwen3-asr-onnx: `decoder_init` reads a prompt and a draft behind it, `decoder_step` one
 * token, whose embedding it is given. Keys and values travel through both, longer by a token each time.
 */
import { floatsOf, tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import { cropCache } from '../attention-cache.ts';
import type { QwenConfig } from './config.ts';
import type { EmbeddingRows } from './embedding-rows.ts';
import { type CachedText, type LogitRows, rowsBehind, wholeNumbers, writeGreedily } from './greedy-text.ts';
import type { TextDecoder, TextRequest, WrittenText } from './parts.ts';

/** What a text is decoded with. */
interface SplitGraphs {
  readonly prompt: InferenceSession;
  readonly step: InferenceSession;
  readonly embeddings: EmbeddingRows;
}

type Shape = Pick<QwenConfig, 'vocabularySize' | 'audioPadToken'>;

/** Runs `decoder_init.onnx` and `decoder_step.onnx`. */
export class SplitDecoder implements TextDecoder {
  readonly #graphs: SplitGraphs;
  readonly #shape: Shape;

  constructor(graphs: SplitGraphs, shape: Shape) {
    this.#graphs = graphs;
    this.#shape = shape;
  }

  write(request: TextRequest): Steps<WrittenText> {
    return writeGreedily(
      new SplitText(this.#graphs, request, this.#shape.audioPadToken),
      request,
      this.#shape.vocabularySize,
    );
  }
}

/** Keys and values of all tokens that were read, [layers, 1, heads, tokens, head size]. */
interface Past {
  readonly keys: Tensor;
  readonly values: Tensor;
}

class SplitText implements CachedText {
  readonly #graphs: SplitGraphs;
  readonly #request: TextRequest;
  readonly #audioPadToken: number;
  #past: Past | null = null;

  constructor(graphs: SplitGraphs, request: TextRequest, audioPadToken: number) {
    this.#graphs = graphs;
    this.#request = request;
    this.#audioPadToken = audioPadToken;
  }

  async begin(draft: readonly number[]): Promise<LogitRows> {
    const { prompt, audio } = this.#request;
    const ids = [...prompt, ...draft];
    const [tokens = 0, width = 0] = audio.dims;
    const rows = rowsBehind(this.#graphs.prompt, prompt.length, draft.length);
    const outputs = await this.#graphs.prompt.run({
      input_ids: wholeNumbers(ids, [1, ids.length]),
      position_ids: wholeNumbers([...ids.keys()], [1, ids.length]),
      audio_features: new Tensor('float32', audio.data as Float32Array, [1, tokens, width]),
      audio_offset: wholeNumbers([prompt.indexOf(this.#audioPadToken)], [1]),
      ...rows.feeds,
    });
    this.#keep(outputs);
    return { logits: floatsOf(outputs, 'logits'), firstRow: rows.firstRow, read: draft };
  }

  /** A run takes one token: a draft would save nothing. */
  async add(token: number, _draft: readonly number[], length: number): Promise<LogitRows> {
    const past = this.#past;
    if (past === null) throw new Error('a token was added before the prompt');
    const embedding = this.#graphs.embeddings.rowOf(token);
    const outputs = await this.#graphs.step.run({
      input_embeds: new Tensor('float32', embedding, [1, 1, embedding.length]),
      position_ids: wholeNumbers([length], [1, 1]),
      past_keys: cropCache(past.keys, length),
      past_values: cropCache(past.values, length),
    });
    this.#keep(outputs);
    return { logits: floatsOf(outputs, 'logits'), firstRow: 0, read: [] };
  }

  #keep(outputs: InferenceSession.OnnxValueMapType): void {
    this.#past = { keys: tensorOf(outputs, 'present_keys'), values: tensorOf(outputs, 'present_values') };
  }
}
