/** Greedy decoding by graphs that give logits: the first run verifies a draft, each of the others adds a token. */
import { CHOSEN_ROWS } from '../../graph/chosen-rows.ts';
import { type InferenceSession, Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import { logprobOf, mostLikely } from '../logits.ts';
import type { TextRequest, WrittenText } from './parts.ts';

/** Logits of tokens that follow one another, [rows, vocabulary]. */
export interface LogitRows {
  readonly logits: Float32Array;
  /** The row behind the last token of the prompt, or behind the token that was added. */
  readonly firstRow: number;
  /** What was read behind that token: a row follows for each. */
  readonly read: readonly number[];
}

/** What was read of one text so far. */
export interface CachedText {
  /** One model run: reads the prompt, and the draft behind it. */
  begin(draft: readonly number[]): Promise<LogitRows>;
  /**
   * One model run: adds a token, and where it can a draft, behind the first `length` tokens; what was read behind those
   * is forgotten.
   */
  add(token: number, draft: readonly number[], length: number): Promise<LogitRows>;
}

/** One step for each model run. @param count tokens of the vocabulary */
export async function* writeGreedily(text: CachedText, request: TextRequest, count: number): Steps<WrittenText> {
  const { prompt, draft, redraft, maxTokens, newTokensMax, endTokens } = request;
  const tokens: number[] = [];
  const logprobs: number[] = [];
  let rows = await text.begin(draft);
  let fresh = 0;
  for (let [at, runs] = [0, 1]; ; ) {
    const row = rows.firstRow + at;
    const token = mostLikely(rows.logits, row, count);
    if (endTokens.includes(token)) return { tokens, logprobs };
    tokens.push(token);
    logprobs.push(logprobOf(rows.logits, { row, count, likeliest: token }, token));
    const isAgreed = token === rows.read[at];
    if (!isAgreed) fresh++;
    if (tokens.length >= maxTokens || fresh >= newTokensMax) return { tokens, logprobs };
    if (isAgreed) {
      at++;
      continue;
    }
    yield;
    const isRefused = runs === 1 && at < draft.length;
    const rest = isRefused ? (redraft?.(tokens) ?? []) : [];
    rows = await text.add(token, rest.slice(0, maxTokens - tokens.length - 1), prompt.length + tokens.length - 1);
    [at, runs] = [0, runs + 1];
  }
}

/**
 * What a decoder is asked for whose graph may give the logits of chosen rows alone: those of the last of `read` tokens
 * and of the `drafted` ones behind it.
 */
export function rowsBehind(
  session: InferenceSession,
  read: number,
  drafted: number,
): { readonly feeds: Record<string, Tensor>; readonly firstRow: number } {
  if (!session.inputNames.includes(CHOSEN_ROWS)) return { feeds: {}, firstRow: read - 1 };
  const rows = Array.from({ length: drafted + 1 }, (_, row) => read - 1 + row);
  return { feeds: { [CHOSEN_ROWS]: wholeNumbers(rows, [rows.length]) }, firstRow: 0 };
}

/** An int64 tensor. */
export function wholeNumbers(values: readonly number[], dims: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
}
