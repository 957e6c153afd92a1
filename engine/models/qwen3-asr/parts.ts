/**
 * What the recogniser is made of. Layouts of others differ in their graphs: they bring an encoder and a decoder of
 * their own.
 */
import type { Tensor } from '../../onnxruntime.ts';
import type { Steps } from '../../scheduler.ts';
import type { Clip } from './features.ts';

/** From features to what was heard. */
export interface AudioEncoder {
  /** [tokens, hidden size], 32-bit or 16-bit floats. */
  encode(clip: Clip): Steps<Tensor>;
}

/** A text that is to be written. */
export interface TextRequest {
  /** With one audio pad for each row of {@link audio}. */
  readonly prompt: readonly number[];
  /** [tokens, hidden size]. */
  readonly audio: Tensor;
  /** How the text may begin; as much of it as the model agrees with costs one run. */
  readonly draft: readonly number[];
  /**
   * How the text may go on behind `tokens`, where it did not begin as the draft does; empty = nobody knows. Asked once,
   * behind the first run, by decoders for which a draft saves time.
   */
  readonly redraft?: (tokens: readonly number[]) => readonly number[];
  /** Tokens of the text at most; more than the draft has. */
  readonly maxTokens: number;
  /** Tokens beside those of the draft at most. */
  readonly newTokensMax: number;
  /** Any of them ends the text. */
  readonly endTokens: readonly number[];
}

/** Tokens in order, without the one that ends a text, and the natural logarithm of the probability of each. */
export interface WrittenText {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

/** From what was heard to tokens. */
export interface TextDecoder {
  write(request: TextRequest): Steps<WrittenText>;
}
