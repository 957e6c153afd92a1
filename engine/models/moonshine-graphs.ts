/** What Moonshine's decoding asks of its graphs, whichever they are. */
import { Tensor } from '../onnxruntime.ts';
import type { Steps } from '../scheduler.ts';

/** An encoder and a decoder. */
export interface MoonshineGraphs {
  /** One model run or several: makes of a waveform (16 kHz, -1 to 1) what its text is decoded from. */
  encode(waveform: Float32Array): Steps<Decoding>;
}

/**
 * One stretch of speech on its way through the decoder. It does not end of itself: the end token comes like any other,
 * and more can be asked for.
 */
export interface Decoding {
  /**
   * One model run, the first: the beginning of `draft` that the model agrees with, and at least one token behind it.
   */
  start(draft: readonly number[]): Promise<number[]>;
  /** One model run: at least one token more. */
  more(): Promise<number[]>;
  /**
   * One model run: when each of `tokens` begins, in samples from the start of the speech, and behind the last one when
   * it ends; never falling. Null where the graphs cannot tell.
   */
  align(tokens: readonly number[]): Promise<number[] | null>;
}

/** Named inputs of a run. */
export type Tensors = Record<string, Tensor>;

/** Tokens as a graph takes them: [1, count]. */
export function tokenTensor(tokens: readonly number[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
}
