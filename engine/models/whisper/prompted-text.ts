/**
 * A text behind a prompt, of which decoding sees the last token alone. What the first token's logits tell of the speech
 * is read on the way: which language it is in, and whether it is any.
 */
import type { LogitsText } from '../greedy.ts';
import { logprobOf, mostLikely } from '../logits.ts';
import type { ControlTokens } from './vocabulary.ts';

/** What is known before anything is read. */
export interface PromptOptions {
  readonly control: ControlTokens;
  readonly vocabularySize: number;
  /** The token of the language that was told, or is guessed; null = the model knows but one. */
  readonly language: number | null;
  /** Those that it may be; none = it was told. */
  readonly choices: readonly number[];
}

/** A text that begins with its prompt's last token. */
export class PromptedText implements LogitsText {
  readonly #inner: LogitsText;
  readonly #options: PromptOptions;
  #language: number | null;
  #noSpeech = 0;

  constructor(inner: LogitsText, options: PromptOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#language = options.language;
  }

  /** The token that decoding begins behind. */
  get startToken(): number {
    return this.#options.control.withoutTimes;
  }

  /** The token of the language that it is read in; null = the model knows but one. */
  get language(): number | null {
    return this.#language;
  }

  /** The probability that nobody speaks; 0 before anything was read. */
  get noSpeech(): number {
    return this.#noSpeech;
  }

  get length(): number {
    return Math.max(0, this.#inner.length - this.prompt.length + 1);
  }

  /** What stands before the text. */
  get prompt(): readonly number[] {
    const { start, transcribe, withoutTimes } = this.#options.control;
    return this.#language === null ? [start, withoutTimes] : [start, this.#language, transcribe, withoutTimes];
  }

  async add(tokens: readonly number[]): Promise<Float32Array> {
    if (this.#inner.length > 0) return this.#inner.add(tokens);
    const { vocabularySize: count } = this.#options;
    const text = tokens.slice(1);
    const logits = await this.#inner.add([...this.prompt, ...text]);
    this.#listen(logits);
    const found = this.#findLanguage(logits);
    if (found === this.#language) return logits.subarray((this.prompt.length - 1) * count);
    this.#language = found;
    this.#inner.keep(1);
    const again = await this.#inner.add([...this.prompt.slice(1), ...text]);
    return again.subarray((this.prompt.length - 2) * count);
  }

  keep(count: number): void {
    this.#inner.keep(count + this.prompt.length - 1);
  }

  #listen(logits: Float32Array): void {
    const { vocabularySize: count, control } = this.#options;
    if (control.noSpeech === null) return;
    const likeliest = mostLikely(logits, 0, count);
    this.#noSpeech = Math.exp(logprobOf(logits, { row: 0, count, likeliest }, control.noSpeech));
  }

  #findLanguage(logits: Float32Array): number | null {
    const [first = this.#language, ...others] = this.#options.choices;
    const logitOf = (token: number | null) => logits[token ?? 0] ?? Number.NEGATIVE_INFINITY;
    return others.reduce((best, token) => (logitOf(token) > logitOf(best) ? token : best), first);
  }
}
