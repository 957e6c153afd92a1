/** From tokens to what a job is answered: text, pieces and words. For recognisers whose text is a list of tokens. */
import { ENGINE_RATE_HZ, type SpokenWord } from '../contract.ts';
import { collapseLoops } from '../text.ts';
import type { Recognition } from './model.ts';

/** What tokens write. */
export interface TokenTexts {
  /** The text of tokens that follow one another, without spaces around it. Control tokens write nothing. */
  textOf(tokens: readonly number[]): string;
  /** What one token writes, in UTF-8, with a space before a word. */
  pieceOf(token: number): Uint8Array;
  /** Whether a word begins with this token. */
  beginsWord(token: number): boolean;
}

/** The tokens before `endToken`, `maxTokens` at most. */
export function upToEnd(tokens: readonly number[], endToken: number, maxTokens: number): readonly number[] {
  const end = tokens.indexOf(endToken);
  return tokens.slice(0, Math.min(maxTokens, end === -1 ? tokens.length : end));
}

/** What decoded tokens say, with their loops collapsed. `logprobs` has one number for each token, or more. */
export function toRecognition(decoded: readonly number[], logprobs: readonly number[], texts: TokenTexts): Recognition {
  const { tokens, looped } = collapseLoops(decoded);
  const text = texts.textOf(tokens);
  if (looped) return { text, tokens: [], logprobs: new Float32Array(0), looped };
  return { text, tokens, logprobs: Float32Array.from(logprobs.slice(0, tokens.length)), looped };
}

/** The same with what each token writes. */
export function withPieces(recognition: Recognition, texts: TokenTexts): Recognition {
  return { ...recognition, pieces: recognition.tokens.map((token) => texts.pieceOf(token)) };
}

/** The words of a text. `times` in samples: where each token begins, and where the last one ends. */
export function wordsOf(
  { tokens, logprobs }: Recognition,
  times: readonly number[],
  texts: TokenTexts,
): readonly SpokenWord[] {
  const starts = tokens.flatMap((token, index) => (index === 0 || texts.beginsWord(token) ? [index] : []));
  return starts.flatMap((start, index) => {
    const end = starts[index + 1] ?? tokens.length;
    const text = texts.textOf(tokens.slice(start, end));
    if (text === '') return [];
    const word = { text, startMs: toMs(times[start]), endMs: toMs(times[end]) };
    return logprobs === null ? [word] : [{ ...word, probability: probabilityOf(logprobs.subarray(start, end)) }];
  });
}

/** That all of the tokens are right. */
function probabilityOf(logprobs: Float32Array): number {
  return Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0));
}

function toMs(samples = Number.NaN): number {
  return Math.round((1000 * samples) / ENGINE_RATE_HZ);
}
