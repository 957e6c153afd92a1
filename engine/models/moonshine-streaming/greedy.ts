/** Greedy decoding on logits: verifies a draft in one run, then adds one token in each. */
import type { Steps } from '../../scheduler.ts';
import { HotWordSearch, type HotWords } from '../hot-words.ts';
import { logprobOf, mostLikely } from '../logits.ts';
import type { Said } from '../moonshine-graphs.ts';

/** A text that is decoded run by run. */
export interface LogitsText {
  /** One model run: adds tokens. The logits behind each of them, [tokens, vocabulary]. */
  add(tokens: readonly number[]): Promise<Float32Array>;
  /** Forgets all tokens but the first `count`. */
  keep(count: number): void;
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
  readonly hotWords: HotWords | null;
}

/** One step for each model run. The tokens up to the end token, which is not among them. */
export async function* decodeGreedily(text: LogitsText, options: GreedyOptions): Steps<Said> {
  const { startToken, draft, vocabularySize, maxTokens, endToken } = options;
  const choices = new Choices(options.hotWords);
  for (let added = [startToken, ...draft]; ; yield) {
    const logits = await text.add(added);
    for (let row = 0; row < added.length; row++) {
      choices.choose(logits, row, vocabularySize);
      if (choices.last === endToken || choices.count >= maxTokens) return choices.said(endToken);
      if (choices.wentBack || choices.last !== added[row + 1]) break;
    }
    // All but the last token are in the caches.
    text.keep(choices.count);
    added = [choices.last];
  }
}

/** The tokens chosen so far, and how probable they were. */
class Choices {
  readonly #search: HotWordSearch | null;
  readonly #tokens: number[] = [];
  readonly #logprobs: number[] = [];
  /** Of the likeliest token at each position, which a hot word that is taken back leaves there. */
  readonly #likeliestLogprobs: number[] = [];
  /** Whether the last choice took tokens back. */
  wentBack = false;

  constructor(hotWords: HotWords | null) {
    this.#search = hotWords === null ? null : new HotWordSearch(hotWords);
  }

  get count(): number {
    return this.#tokens.length;
  }

  get last(): number {
    return this.#tokens.at(-1) ?? Number.NaN;
  }

  choose(logits: Float32Array, row: number, count: number): void {
    const likeliest = mostLikely(logits, row, count);
    const at = { row, count, likeliest };
    const logitOf = (token: number): number => logits[row * count + token] ?? Number.NEGATIVE_INFINITY;
    const before = this.#tokens.length;
    this.#likeliestLogprobs[before] = logprobOf(logits, at, likeliest);
    const { token, kept } = this.#search?.choose(likeliest, logitOf) ?? { token: likeliest, kept: before };
    this.wentBack = kept < before;
    this.#tokens.length = kept;
    this.#tokens.push(token);
    this.#logprobs[kept] =
      this.wentBack || token === likeliest ? (this.#likeliestLogprobs[kept] ?? 0) : logprobOf(logits, at, token);
  }

  said(endToken: number): Said {
    const kept = this.#tokens.slice(0, this.#search?.end() ?? this.#tokens.length);
    const tokens = kept.at(-1) === endToken ? kept.slice(0, -1) : kept;
    return { tokens, logprobs: this.#logprobs.slice(0, tokens.length) };
  }
}
