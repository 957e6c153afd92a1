import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { Transcript } from '../engine-client/engine.ts';
import { matchLanguage } from '../foundation/languages.ts';
import { samplesToMs } from '../foundation/units.ts';
import { meanLogprob } from './confidence.ts';
import type { ExpectedAnswer } from './expected-answer.ts';

/** From this much speech on one utterance is enough to change the language, if the recogniser is sure of its text. */
const LONG_MS = 3000;
/** Mean logarithm of its tokens' probabilities from which on a text counts as sure: of each one 0.64. */
const SURE = -0.45;

/** The language that the recogniser found in one utterance. */
export interface LanguageGuess {
  /** BCP-47. */
  readonly language: string;
  readonly speechMs: number;
  /** Of the probabilities of the text's tokens; null = the recogniser does not say. */
  readonly meanLogprob: number | null;
}

/** What a reading of `samples` says of their language; null = nothing. */
export function guessOf({ language, logprobs }: Transcript, samples: Int16Array): LanguageGuess | null {
  if (language === undefined) return null;
  return { language, speechMs: samplesToMs(samples.length, ENGINE_RATE_HZ), meanLogprob: meanLogprob(logprobs) };
}

/**
 * What is known of the language of one track. Somebody names it, or the recogniser finds it out: then it is settled,
 * and later changed, by two utterances in a row that agree or by a long one whose text is sure, because the language of
 * a short "okay" is often guessed wrongly.
 */
export class TrackLanguage {
  #named: string | null = null;
  #found: string | null = null;
  /** Of the utterance before, where it was another one than {@link current}. */
  #doubted: string | null = null;

  /** BCP-47, as somebody named it; null = the recogniser finds out, or assumes. */
  get named(): string | null {
    return this.#named;
  }

  /** Named or settled, in BCP-47; null = not known. */
  get current(): string | null {
    return this.#named ?? this.#found;
  }

  /** Somebody says what is spoken from now on; null = the recogniser is to find out. */
  name(language: string | null): void {
    this.#named = language;
    this.#found = null;
    this.#doubted = null;
  }

  /** Whether the text of an utterance in this language is to be taken: it settles the language, or none is settled. */
  accepts(guess: LanguageGuess): boolean {
    const { current } = this;
    return current === null || isSame(guess.language, current) || this.#settles(guess);
  }

  /** Takes what was found in the next utterance. Returns the language that is settled from now on; null = as before. */
  note(guess: LanguageGuess): string | null {
    if (this.#named !== null) return null;
    if (this.#found !== null && isSame(guess.language, this.#found)) {
      this.#doubted = null;
      return null;
    }
    if (!this.#settles(guess)) {
      this.#doubted = guess.language;
      return null;
    }
    this.#found = guess.language;
    this.#doubted = null;
    return guess.language;
  }

  #settles({ language, speechMs, meanLogprob }: LanguageGuess): boolean {
    if (this.#named !== null) return false;
    if (this.#doubted !== null && isSame(language, this.#doubted)) return true;
    return speechMs >= LONG_MS && meanLogprob !== null && meanLogprob >= SURE;
  }
}

/** What is known beforehand of the speech on a track. */
export interface ExpectedSpeech {
  readonly language: TrackLanguage;
  /** Names and phrases that are likely to be said. */
  hotWords: readonly string[];
  /** What is asked now, if anything of which answers can be expected. */
  answer?: ExpectedAnswer | null;
}

function isSame(a: string, b: string): boolean {
  return matchLanguage(a, [b]) !== null;
}
