/**
 * The decoder of Qwen3-ASR: one graph with the loop of greedy decoding in it, so that keys and values stay where they
 * are from token to token. A run verifies a draft, then adds so many tokens.
 */
import { tensorOf } from '../../onnx.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import { runTogether, type SharedRun } from '../../shared-runs.ts';
import type { QwenConfig } from './config.ts';
import type { TextDecoder, TextRequest, WrittenText } from './parts.ts';
import { joinRows, rowsOf, withoutFloats } from './tensor-rows.ts';

type Shape = Pick<QwenConfig, 'vocabularySize' | 'layers' | 'keyValueHeads' | 'headSize' | 'audioPadToken'>;

const TEXT_OUTPUTS = ['agreed', 'draft_logprobs', 'tokens', 'logprobs'];

/** No token. */
const NEVER = [-1];

/** How the decoder is run. */
export interface LoopOptions {
  /** Tokens that a run adds at most: urgent work waits for it. */
  readonly runTokens: number;
  /** Tokens of a prompt that a run reads at most, where {@link keepsPast}; absent = all. */
  readonly promptTokens?: number;
  /**
   * Whether a run takes over the keys and values of the one before it. Otherwise, where it takes long to bring them
   * here and back, it reads all text again.
   */
  readonly keepsPast: boolean;
  /** Texts of one run at most. Those that take over keys and values are alone in theirs. */
  readonly batchMax: number;
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
  /** [audio pads in the prompt, hidden size]. */
  readonly audio: Tensor;
  readonly past: Past | null;
  readonly newTokens: number;
  readonly endTokens: readonly number[];
}

/** What one run made of one text. */
interface LoopOutput {
  /** How many of them are the draft's. */
  readonly agreed: number;
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
  readonly #run: SharedRun<LoopInput, LoopOutput>;

  constructor(session: InferenceSession, shape: Shape, options: LoopOptions) {
    this.#session = session;
    this.#shape = shape;
    this.#options = options;
    this.#run = { batchMax: options.keepsPast ? 1 : options.batchMax, run: (inputs) => this.#write(inputs) };
  }

  async *write({ prompt, audio, draft, redraft, ...limits }: TextRequest): Steps<WrittenText> {
    const { maxTokens, newTokensMax, endTokens } = limits;
    const tokens: number[] = [];
    const logprobs: number[] = [];
    const noAudio = withoutFloats(audio, [0, audio.dims[1] ?? 0]);
    const start = yield* this.#readStart(prompt, audio);
    let input: LoopInput = { ...start, draft, newTokens: 0, endTokens };
    for (let room = newTokensMax; ; ) {
      const newTokens = Math.min(this.#options.runTokens, room, maxTokens - tokens.length - input.draft.length);
      const output = yield* runTogether(this.#run, { ...input, newTokens });
      tokens.push(...output.tokens);
      logprobs.push(...output.logprobs);
      const last = tokens.at(-1) ?? Number.NaN;
      const isOver = endTokens.includes(last);
      room -= newTokens;
      if (isOver || room <= 0 || tokens.length >= maxTokens) {
        const count = isOver ? tokens.length - 1 : tokens.length;
        return { tokens: tokens.slice(0, count), logprobs: logprobs.slice(0, count) };
      }
      const isFirst = tokens.length === output.tokens.length;
      const isRefused = isFirst && output.agreed < draft.length;
      const rest = isRefused ? (redraft?.(tokens) ?? []) : [];
      const { past } = output;
      const next = past === null ? { prompt: [...prompt, ...tokens], audio } : { prompt: [last], audio: noAudio };
      input = { ...next, draft: rest.slice(0, maxTokens - tokens.length - 1), past, newTokens, endTokens };
    }
  }

  /**
   * Reads all of a prompt but its last part: a context may be long, and while a run reads it nothing else is done. The
   * token that such a run adds is not used, and not read.
   */
  async *#readStart(prompt: readonly number[], audio: Tensor): Steps<Pick<LoopInput, 'prompt' | 'audio' | 'past'>> {
    const { keepsPast, promptTokens = prompt.length } = this.#options;
    let past: Past | null = null;
    let [from, heard] = [0, 0];
    for (; keepsPast && prompt.length - from > promptTokens; from += promptTokens) {
      const part = prompt.slice(from, from + promptTokens);
      const pads = part.filter((token) => token === this.#shape.audioPadToken).length;
      const rows = rowsOf(audio, heard, heard + pads);
      const input = { prompt: part, audio: rows, past, draft: [], newTokens: 1, endTokens: NEVER };
      const output: LoopOutput = yield* runTogether(this.#run, input);
      past = output.past;
      heard += pads;
    }
    return { prompt: prompt.slice(from), audio: rowsOf(audio, heard, audio.dims[0] ?? 0), past };
  }

  async #write(inputs: readonly LoopInput[]): Promise<LoopOutput[]> {
    const [{ endTokens }] = inputs as readonly [LoopInput];
    const { keepsPast } = this.#options;
    const newTokens = Math.max(...inputs.map((input) => input.newTokens));
    const outputs = await this.#session.run(
      {
        ...promptFeeds(inputs),
        ...this.#pastFeeds(inputs),
        audio_features: joinRows(inputs.map(({ audio }) => audio)),
        max_new_tokens: wholeNumbers([newTokens], []),
        eos_ids: wholeNumbers(endTokens, [endTokens.length]),
      },
      keepsPast ? [...TEXT_OUTPUTS, 'present_keys', 'present_values'] : TEXT_OUTPUTS,
    );
    const past = keepsPast
      ? { keys: tensorOf(outputs, 'present_keys'), values: tensorOf(outputs, 'present_values') }
      : null;
    return inputs.map((input, row) => ({ ...this.#checked(rowOf(outputs, row, input)), past }));
  }

  #checked(output: Omit<LoopOutput, 'past'>): Omit<LoopOutput, 'past'> {
    const { vocabularySize } = this.#shape;
    const wrong = output.tokens.find((token) => !(token >= 0 && token < vocabularySize));
    if (wrong === undefined) return output;
    throw new Error(`the decoder wrote the token ${wrong}, expected one below ${vocabularySize}`);
  }

  #pastFeeds(inputs: readonly LoopInput[]): Record<'past_keys' | 'past_values', Tensor> {
    const [{ past, audio }] = inputs as readonly [LoopInput];
    if (past !== null) return { past_keys: past.keys, past_values: past.values };
    const { layers, keyValueHeads, headSize } = this.#shape;
    const none = withoutFloats(audio, [layers, inputs.length, keyValueHeads, 0, headSize]);
    return { past_keys: none, past_values: none };
  }
}

/** Prompts, padded in front with their own first token, and drafts, padded behind. */
function promptFeeds(inputs: readonly LoopInput[]): Record<string, Tensor> {
  const rows = inputs.length;
  const longest = Math.max(...inputs.map(({ prompt }) => prompt.length));
  const longestDraft = Math.max(...inputs.map(({ draft }) => draft.length));
  const pads = inputs.map(({ prompt }) => longest - prompt.length);
  const prompts = inputs.flatMap(({ prompt }, row) => [...filled(prompt[0] ?? 0, pads[row] ?? 0), ...prompt]);
  const drafts = inputs.flatMap(({ draft }) => [...draft, ...filled(0, longestDraft - draft.length)]);
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
  { draft, newTokens, endTokens }: LoopInput,
): Omit<LoopOutput, 'past'> {
  const agreed = Number(tensorOf(outputs, 'agreed').data[row]);
  const fresh = rowIn(tensorOf(outputs, 'tokens'), row).slice(0, newTokens);
  const end = fresh.findIndex((token) => endTokens.includes(token));
  const count = end === -1 ? fresh.length : end + 1;
  const draftLogprobs = rowIn(tensorOf(outputs, 'draft_logprobs'), row);
  const logprobs = rowIn(tensorOf(outputs, 'logprobs'), row);
  if (!(agreed >= 0 && agreed <= draft.length) || count === 0)
    throw new Error(`the decoder agreed with ${agreed} of ${draft.length} tokens and added ${count}`);
  return {
    agreed,
    tokens: [...draft.slice(0, agreed), ...fresh.slice(0, count)],
    logprobs: [...draftLogprobs.slice(0, agreed), ...logprobs.slice(0, count)],
  };
}

function rowIn({ data, dims }: Tensor, row: number): number[] {
  const width = dims[1] ?? 0;
  return Array.from({ length: width }, (_, column) => Number(data[row * width + column]));
}

function wholeNumbers(values: readonly number[], dims: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
}
