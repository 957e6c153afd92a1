/** Greedy decoding on logits, with hot words: verifies a draft in one run, then adds one token in each. */
import type { Steps } from '../scheduler.ts';
import { HotWordSearch, type HotWords } from './hot-words.ts';
import { logprobOf, mostLikely } from './logits.ts';

/** Tokens in order, and the natural logarithm of the probability of each. */
export interface Said {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

/** A text that is decoded run by run. It begins with the start token. */
export interface LogitsText {
  /** How many tokens it has. */
  readonly length: number;
  /**
   * One model run: adds tokens, all or only the first of them.
   * @returns the logits behind each of the added tokens, [added, vocabulary]
   */
  add(tokens: readonly number[]): Promise<Float32Array>;
  /** Forgets all tokens but the first `count`. */
  keep(count: number): void;
}

/** What a recogniser may say, beside what its logits say. */
export interface TextRules {
  /** Makes what cannot stand behind `tokens` impossible, in one row of logits, in place. */
  restrict(logits: Float32Array, tokens: readonly number[]): void;
  /** Whether nothing behind `tokens` is worth reading. */
  isOver(tokens: readonly number[]): boolean;
}

/** What is to be decoded, and up to where. */
export interface GreedyOptions {
  readonly startToken: number;
  readonly endToken: number;
  readonly vocabularySize: number;
  /** Tokens of the text at most. */
  readonly maxTokens: number;
  /** The text as it was read before, shorter than {@link maxTokens}. */
  readonly draft: readonly number[];
  /** Null = none. */
  readonly hotWords: HotWords | null;
  /** Absent = there are none. */
  readonly rules?: TextRules;
}

/** One step for each model run. The tokens up to the end token, which is not among them. */
export async function* decodeGreedily(text: LogitsText, options: GreedyOptions): Steps<Said> {
  const { startToken, draft, vocabularySize, maxTokens, endToken } = options;
  const choices = new Choices(options);
  for (let added: readonly number[] = [startToken, ...draft]; ; yield) {
    const from = text.length;
    const logits = await text.add(added);
    const rows = logits.length / vocabularySize;
    // Behind tokens that are in the text for the second time, the next ones are chosen already.
    for (let row = choices.count - from; row < rows; row++) {
      const wentBack = choices.choose(logits, row);
      if (choices.last === endToken || choices.count >= maxTokens || choices.isOver) return choices.said(endToken);
      if (wentBack || choices.last !== added[row + 1]) break;
    }
    const agreed = choices.tokens.every((token, at) => token === draft[at]);
    const chosen = [startToken, ...choices.tokens, ...(agreed ? draft.slice(choices.count) : [])];
    text.keep(Math.min(text.length, choices.count));
    added = chosen.slice(text.length);
  }
}

/** The tokens chosen so far, and how probable they were. */
class Choices {
  readonly tokens: number[] = [];
  readonly #vocabularySize: number;
  readonly #search: HotWordSearch | null;
  readonly #rules: TextRules | undefined;
  readonly #logprobs: number[] = [];
  /** Of the likeliest token at each position, which a hot word that is taken back leaves there. */
  readonly #likeliestLogprobs: number[] = [];

  constructor({ hotWords, vocabularySize, rules }: GreedyOptions) {
    this.#search = hotWords === null ? null : new HotWordSearch(hotWords);
    this.#vocabularySize = vocabularySize;
    this.#rules = rules;
  }

  get count(): number {
    return this.tokens.length;
  }

  /** Whether the rules want no more. */
  get isOver(): boolean {
    return this.#rules?.isOver(this.tokens) === true;
  }

  get last(): number {
    return this.tokens.at(-1) ?? Number.NaN;
  }

  /** Chooses the next token by one row of logits. Whether that took tokens back. */
  choose(logits: Float32Array, row: number): boolean {
    const count = this.#vocabularySize;
    this.#rules?.restrict(logits.subarray(row * count, (row + 1) * count), this.tokens);
    const likeliest = mostLikely(logits, row, count);
    const at = { row, count, likeliest };
    const before = this.tokens.length;
    this.#likeliestLogprobs[before] = logprobOf(logits, at, likeliest);
    const logitOf = (token: number): number => logits[row * count + token] ?? Number.NEGATIVE_INFINITY;
    const { token, kept } = this.#search?.choose(likeliest, logitOf) ?? { token: likeliest, kept: before };
    const wentBack = kept < before;
    this.tokens.length = kept;
    this.tokens.push(token);
    this.#logprobs[kept] =
      wentBack || token === likeliest ? (this.#likeliestLogprobs[kept] ?? 0) : logprobOf(logits, at, token);
    return wentBack;
  }

  said(endToken: number): Said {
    const kept = this.tokens.slice(0, this.#search?.end() ?? this.tokens.length);
    const tokens = kept.at(-1) === endToken ? kept.slice(0, -1) : kept;
    return { tokens, logprobs: this.#logprobs.slice(0, tokens.length) };
  }
}
