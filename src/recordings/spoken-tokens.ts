/** The tokens of a text with their probabilities, for those who want to see them. */
import type { Transcript } from '../engine-client/engine.ts';
import type { TimedWord } from '../transcription/estimated-word-times.ts';

/** A token of a text. */
export interface SpokenToken {
  /** UTF-8; what it writes may begin or end inside of a character. */
  readonly bytes: readonly number[];
  /** The natural logarithm of its probability. */
  readonly logprob: number;
}

const SPACE = 0x20;

/**
 * The tokens of each of `stretches`, into which the words of a clip's text were divided. Where the text was changed, so
 * that it has not got as many words as the tokens have, all tokens are the first stretch's. Null where the transcript
 * has none.
 */
export function divideTokens(
  { pieces, logprobs }: Pick<Transcript, 'pieces' | 'logprobs'>,
  stretches: readonly (readonly TimedWord[])[],
): SpokenToken[][] | null {
  if (pieces === undefined || logprobs === null) return null;
  const tokens = pieces.map((bytes, index) => ({ bytes: [...bytes], logprob: logprobs[index] ?? 0 }));
  const words = groupByWord(tokens);
  const counts = stretches.map((stretch) => stretch.length);
  if (counts.reduce((sum, count) => sum + count, 0) !== words.length)
    return stretches.map((_, index) => (index === 0 ? withoutSpaceAhead(tokens) : []));
  let from = 0;
  return counts.map((count) => {
    const own = words.slice(from, from + count).flat();
    from += count;
    return withoutSpaceAhead(own);
  });
}

/** A word begins with the token that begins with a space. */
function groupByWord(tokens: readonly SpokenToken[]): SpokenToken[][] {
  const words: SpokenToken[][] = [];
  for (const token of tokens) {
    const word = words.at(-1);
    if (word === undefined || token.bytes[0] === SPACE) words.push([token]);
    else word.push(token);
  }
  return words;
}

function withoutSpaceAhead(tokens: readonly SpokenToken[]): SpokenToken[] {
  const [first, ...others] = tokens;
  if (first === undefined) return [];
  return [first.bytes[0] === SPACE ? { ...first, bytes: first.bytes.slice(1) } : first, ...others];
}

/** OpenAI's TranscriptionLogprob. Bytes that are no whole character are shown as U+FFFD in `token`. */
export function toOpenAiLogprobs(
  tokens: readonly SpokenToken[],
  separator = '',
): { token: string; logprob: number; bytes: readonly number[] }[] {
  const ahead = [...Buffer.from(separator)];
  return tokens.map(({ bytes, logprob }, index) => {
    const all = index === 0 ? [...ahead, ...bytes] : bytes;
    return { token: Buffer.from(all).toString('utf8'), logprob, bytes: all };
  });
}
