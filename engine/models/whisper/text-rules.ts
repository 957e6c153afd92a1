/** What Whisper may say, as its authors' program restricts it, and where it goes round in circles. */
import type { TextRules } from '../greedy.ts';
import type { WhisperConfig } from './config.ts';

/** Longest phrase, in tokens, whose repetition is looked for. */
const UNIT_MAX = 40;
/** Shorter phrases are said four times before they are a loop: people repeat numbers, and answer "no, no, no". */
const LONG_UNIT = 5;
const SHORT_COPIES = 4;

/**
 * How many tokens at the end repeat what stands before them and are to be cut off; 0 = they are no loop. A phrase of
 * one to four tokens is one when it was said four times, a longer one when it was said twice and is begun again.
 */
export function loopAtEnd(tokens: readonly number[]): number {
  const last = tokens.length - 1;
  for (let unit = 1; unit <= Math.min(UNIT_MAX, last); unit++) {
    const needed = unit < LONG_UNIT ? (SHORT_COPIES - 1) * unit : unit + LONG_UNIT - 1;
    let alike = 0;
    while (alike < needed && alike + unit <= last && tokens[last - alike] === tokens[last - unit - alike]) alike++;
    if (alike === needed) return alike;
  }
  return 0;
}

/** The rules of one text without times. */
export class WhisperRules implements TextRules {
  readonly #config: WhisperConfig;
  readonly #end: number;

  /** @param end the token that ends a text; those behind it are for prompts */
  constructor(config: WhisperConfig, end: number) {
    this.#config = config;
    this.#end = end;
  }

  restrict(logits: Float32Array, tokens: readonly number[]): void {
    const { suppressed, suppressedFirst } = this.#config;
    logits.fill(Number.NEGATIVE_INFINITY, this.#end + 1);
    for (const token of suppressed) logits[token] = Number.NEGATIVE_INFINITY;
    if (tokens.length > 0) return;
    for (const token of suppressedFirst) logits[token] = Number.NEGATIVE_INFINITY;
  }

  isOver(tokens: readonly number[]): boolean {
    return loopAtEnd(tokens) > 0;
  }
}
