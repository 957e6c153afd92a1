/**
 * The decoder of Qwen3-ASR: one graph with the loop of greedy decoding in it, so that keys and values stay where they
 * are from token to token. A run verifies a draft, then adds so many tokens.
 */
import { tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import type { QwenConfig } from './config.ts';
import type { TextDecoder, TextRequest, WrittenText } from './parts.ts';
import { emptyLike, joinRows } from './tensor-rows.ts';

type Shape = Pick<QwenConfig, 'layers' | 'keyValueHeads' | 'headSize' | 'hiddenSize' | 'endTokens' | 'audioPadToken'>;

/** How the decoder is run. */
export interface LoopOptions {
  /** Tokens that a run adds at most: urgent work waits for it. */
  readonly runTokens: number;
  /**
   * Whether a run takes over the keys and values of the one before it. Otherwise, where it takes long to bring them
   * here and back, it reads all text again.
   */
  readonly keepsPast: boolean;
}

/** Keys and values of all that a text's runs were fed. */
interface Past {
  readonly keys: Tensor;
  readonly values: Tensor;
}

/** What one run is given of one text. */
interface LoopInput {
  readonly prompt: readonly number[];
  readonly draft: readonly number[];
  /** Null = there is none in the prompt. */
  readonly audio: Tensor;
  readonly past: Past | null;
  readonly newTokens: number;
}

/** What one run made of one text. */
interface LoopOutput {
  /** The agreed tokens of the draft, and those behind them up to an end token, which is the last of them. */
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly past: Past | null;
}

/** Runs `decoder_loop.onnx`. */
export class LoopDecoder implements TextDecoder {
  readonly #session: InferenceSession;
  readonly #shape: Shape;
  readonly #options: LoopOptions;

  constructor(session: InferenceSession, shape: Shape, options: LoopOptions) {
    this.#session = session;
    this.#shape = shape;
    this.#options = options;
  }

  async *write({ prompt, audio, draft, maxTokens, newTokensMax }: TextRequest): Steps<WrittenText> {
    const { runTokens, keepsPast } = this.#options;
    const tokens: number[] = [];
    const logprobs: number[] = [];
    let input: LoopInput = { prompt, audio, draft, past: null, newTokens: 0 };
    for (let room = newTokensMax; ; yield) {
      const newTokens = Math.min(runTokens, room, maxTokens - tokens.length - input.draft.length);
      const output = (await this.#run([{ ...input, newTokens }]))[0] as LoopOutput;
      tokens.push(...output.tokens);
      logprobs.push(...output.logprobs);
      const last = tokens.at(-1) ?? Number.NaN;
      const isOver = this.#shape.endTokens.includes(last);
      room -= newTokens;
      if (isOver || room <= 0 || tokens.length >= maxTokens)
        return { tokens: isOver ? tokens.slice(0, -1) : tokens, logprobs };
      input =
        keepsPast && output.past !== null
          ? { prompt: [last], audio: withoutRows(audio), draft: [], past: output.past, newTokens }
          : { prompt: [...prompt, ...tokens], audio, draft: [], past: null, newTokens };
    }
  }

  async #run(inputs: readonly LoopInput[]): Promise<LoopOutput[]> {
    const { endTokens } = this.#shape;
    const fetches = ['agreed', 'draft_logprobs', 'tokens', 'logprobs'];
    const { keepsPast } = this.#options;
    const outputs = await this.#session.run(
      {
        ...promptFeeds(inputs, endTokens[0] ?? 0),
        ...this.#pastFeeds(inputs),
        audio_features: joinRows(inputs.map(({ audio }) => audio)),
        max_new_tokens: new Tensor(
          'int64',
          BigInt64Array.of(BigInt(Math.max(...inputs.map(({ newTokens }) => newTokens)))),
          [],
        ),
        eos_ids: wholeNumbers(endTokens, [endTokens.length]),
      },
      keepsPast ? [...fetches, 'present_keys', 'present_values'] : fetches,
    );
    const past = keepsPast
      ? { keys: tensorOf(outputs, 'present_keys'), values: tensorOf(outputs, 'present_values') }
      : null;
    return inputs.map((input, row) => ({ ...rowOf(outputs, row, input, endTokens), past }));
  }

  #pastFeeds(inputs: readonly LoopInput[]): Record<'past_keys' | 'past_values', Tensor> {
    const [{ past, audio } = {}] = inputs;
    if (past) return { past_keys: past.keys, past_values: past.values };
    const { layers, keyValueHeads, headSize } = this.#shape;
    const dims = [layers, inputs.length, keyValueHeads, 0, headSize];
    const none = new Tensor(audio?.type as 'float32', emptyLike(audio as Tensor, 0), dims);
    return { past_keys: none, past_values: none };
  }
}

/** Prompts, padded in front, and drafts, padded behind. */
function promptFeeds(inputs: readonly LoopInput[], padding: number): Record<string, Tensor> {
  const rows = inputs.length;
  const longest = Math.max(...inputs.map(({ prompt }) => prompt.length));
  const longestDraft = Math.max(...inputs.map(({ draft }) => draft.length));
  const pads = inputs.map(({ prompt }) => longest - prompt.length);
  const prompts = inputs.flatMap(({ prompt }, row) => [...filled(padding, pads[row] ?? 0), ...prompt]);
  const drafts = inputs.flatMap(({ draft }) => [...draft, ...filled(padding, longestDraft - draft.length)]);
  return {
    prompt_ids: wholeNumbers(prompts, [rows, longest]),
    pads: wholeNumbers(pads, [rows]),
    draft_ids: wholeNumbers(drafts, [rows, longestDraft]),
    draft_lengths: wholeNumbers(
      inputs.map(({ draft }) => draft.length),
      [rows],
    ),
  };
}

function filled(value: number, length: number): number[] {
  return new Array<number>(length).fill(value);
}

/** One row of what a run gave: at most as many new tokens as were asked for it, and none behind an end token. */
function rowOf(
  outputs: InferenceSession.OnnxValueMapType,
  row: number,
  { draft, newTokens }: LoopInput,
  endTokens: readonly number[],
): Pick<LoopOutput, 'tokens' | 'logprobs'> {
  const agreed = Number(tensorOf(outputs, 'agreed').data[row]);
  const fresh = rowIn(tensorOf(outputs, 'tokens'), row).map(Number).slice(0, newTokens);
  const end = fresh.findIndex((token) => endTokens.includes(token));
  const count = end === -1 ? fresh.length : end + 1;
  const draftLogprobs = rowIn(tensorOf(outputs, 'draft_logprobs'), row).map(Number);
  const logprobs = rowIn(tensorOf(outputs, 'logprobs'), row).map(Number);
  if (!(agreed >= 0 && agreed <= draft.length) || count === 0)
    throw new Error(`the decoder agreed with ${agreed} of ${draft.length} tokens and added ${count}`);
  return {
    tokens: [...draft.slice(0, agreed), ...fresh.slice(0, count)],
    logprobs: [...draftLogprobs.slice(0, agreed), ...logprobs.slice(0, count)],
  };
}

function rowIn({ data, dims }: Tensor, row: number): (number | bigint)[] {
  const width = dims[1] ?? 0;
  return Array.from((data as Float32Array | BigInt64Array).subarray(row * width, (row + 1) * width));
}

function wholeNumbers(values: readonly number[], dims: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
}

function withoutRows(audio: Tensor): Tensor {
  return new Tensor(audio.type as 'float32', emptyLike(audio, 0), [0, audio.dims[1] ?? 0]);
}
