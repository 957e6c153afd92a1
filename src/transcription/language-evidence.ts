/**
 * Whether speech is in the recogniser's language. It writes words of that language whatever is said, but those that it
 * makes of another one are improbable to itself. `npm run bench -- confidence` has the figures.
 */

/** With fewer tokens nothing is said of the language. */
const TOKENS_MIN = 8;
/**
 * The mean logarithm of a token's probability is below the limit: of people's English in noise of 10 dB it is -0.3, of
 * their Spanish, French, Italian and Russian -1. The fewer tokens there are, the further below it must be.
 */
const LIMIT = -0.7;
const LIMIT_OF_ONE_TOKEN = -3;

/** From so many tokens on, a mean below this is taken as certain. */
const CERTAIN_TOKENS = 48;
const CERTAIN_LIMIT = -0.8;

/** Enough tokens to go on what they say until now. */
const SETTLED_TOKENS = 24;

/** The probabilities of what was read so far, oldest readings forgotten first. */
export class LanguageEvidence {
  readonly #tokensMax: number;
  /** Of each reading. */
  readonly #readings: { readonly tokens: number; readonly sum: number }[] = [];
  #isKnowable = true;
  #tokens = 0;
  #sum = 0;

  /** @param tokensMax readings are forgotten while the others have as many; unless given, none ever is */
  constructor(tokensMax = Number.POSITIVE_INFINITY) {
    this.#tokensMax = tokensMax;
  }

  /** One more reading, by the logarithms of its tokens' probabilities; null, from a recogniser without, is none. */
  add(logprobs: Float32Array | null): void {
    this.#isKnowable &&= logprobs !== null;
    if (logprobs === null || logprobs.length === 0) return;
    const reading = { tokens: logprobs.length, sum: logprobs.reduce((sum, logprob) => sum + logprob, 0) };
    this.#readings.push(reading);
    this.#count(reading, 1);
    for (
      let [oldest] = this.#readings;
      oldest !== undefined && this.#tokens - oldest.tokens >= this.#tokensMax;
      [oldest] = this.#readings
    ) {
      this.#readings.shift();
      this.#count(oldest, -1);
    }
  }

  /** Whether it is probably another language than the recogniser's. */
  get isUnlikely(): boolean {
    return this.#tokens >= TOKENS_MIN && this.#mean < LIMIT + LIMIT_OF_ONE_TOKEN / this.#tokens;
  }

  /** Whether that is certain. */
  get isCertain(): boolean {
    return this.#tokens >= CERTAIN_TOKENS && this.#mean < CERTAIN_LIMIT;
  }

  /** Whether there is enough to say that it is the recogniser's language, or nothing can be known. */
  get isSettled(): boolean {
    if (!this.#isKnowable) return true;
    return this.#tokens >= SETTLED_TOKENS && !this.isUnlikely;
  }

  get #mean(): number {
    return this.#sum / this.#tokens;
  }

  #count({ tokens, sum }: { readonly tokens: number; readonly sum: number }, sign: 1 | -1): void {
    this.#tokens += sign * tokens;
    this.#sum += sign * sum;
  }
}
