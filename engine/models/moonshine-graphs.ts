/** The interface of Moonshine's graphs, rewritten or shipped. */
import { Tensor } from '../onnxruntime.ts';
import type { Steps } from '../scheduler.ts';
import type { BranchingText } from './expected-words.ts';
import type { Said } from './greedy.ts';

/** An encoder and a decoder. */
export interface MoonshineGraphs {
  /** One model run or several: encodes a waveform (16 kHz, -1 to 1) for the decoder. */
  encode(waveform: Float32Array): Steps<Decoding>;
}

/**
 * The decoding of one stretch of speech. It does not end by itself: the end token is returned like any other, and more
 * tokens can be requested after it.
 */
export interface Decoding {
  /**
   * The first model run: gives the beginning of `draft` that the model agrees with, and at least one token after it.
   */
  start(draft: readonly number[]): Promise<Said>;
  /** One model run: at least one token more. */
  more(): Promise<Said>;
  /** Instead of {@link start} and {@link more}: the same text, token by token and with logits, which takes longer. */
  withLogits(): BranchingText;
  /**
   * One model run: when each of `tokens` begins, in samples from the start of the speech, and finally when the last one
   * ends; never decreasing. Null where the graphs cannot tell.
   */
  align(tokens: readonly number[]): Promise<number[] | null>;
}

/** Named inputs of a run. */
export type Tensors = Record<string, Tensor>;

/** Tokens as a graph takes them: [1, count]. */
export function tokenTensor(tokens: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
}
