/**
 * What a partial takes over of the one before it: `streaming_transcribe` of qwen_asr/inference/qwen3_asr.py. All but
 * the last tokens is fixed, so that a text does not change behind the reader's back, and little is decoded anew.
 */
import type { QwenTokenizer, TextPart } from './tokenizer.ts';

/** Tokens at the end that are written anew. */
const UNFIXED_TOKENS = 5;
const NO_CHARACTER = '\ufffd';

/** A text that is begun. */
export interface FixedText {
  /** What is fixed, and what was behind it. */
  readonly fixed: readonly number[];
  readonly rest: readonly number[];
}

/**
 * @param raw what was written, the language and its tag included
 * @param textTag the token behind which the text stands
 */
export function fixText(raw: readonly number[], tokenizer: QwenTokenizer, textTag: number): FixedText {
  const tokens = tokenizer.encodeParts(partsOf(raw, tokenizer, textTag));
  let end = Math.max(tokens.length - UNFIXED_TOKENS, 0);
  while (end > 0 && tokenizer.textOf(tokens.slice(0, end)).includes(NO_CHARACTER)) end--;
  return { fixed: tokens.slice(0, end), rest: tokens.slice(end) };
}

/** Tokens as text, with the first tag as the token that it is. */
export function partsOf(tokens: readonly number[], tokenizer: QwenTokenizer, textTag: number): TextPart[] {
  const at = tokens.indexOf(textTag);
  if (at === -1) return [tokenizer.textOf(tokens)];
  const tag = { token: tokenizer.textOf([textTag]) };
  return [tokenizer.textOf(tokens.slice(0, at)), tag, tokenizer.textOf(tokens.slice(at + 1))];
}
