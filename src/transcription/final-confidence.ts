import { confidenceOf, LOW_CONFIDENCE } from './confidence.ts';
import { LanguageEvidence } from './language-evidence.ts';

/** Latest tokens of a track that its language is judged by: about half a minute of speech. */
const LANGUAGE_TOKENS = 100;

/** What a final caption says of its text. */
export interface FinalMarks {
  /** The share of its words, from 0 to 1, that may be expected to be right; absent where it cannot be told. */
  readonly confidence?: number;
  /** The confidence is below {@link LOW_CONFIDENCE}. */
  readonly lowConfidence?: true;
  /**
   * BCP-47 of the language that it was read in, where somebody named it or the recogniser found it out; null = what is
   * said on the track is probably in no language that the recogniser understands.
   */
  readonly language?: string | null;
  /** It was said far below the caller's level: by somebody behind him, or by a television. */
  readonly background?: true;
}

/** What is to become of a final text. */
export interface JudgedFinal {
  readonly marks: FinalMarks;
  /** Whether its text is to be left out: it is certainly no reading of what was said. */
  readonly isLeftOut: boolean;
}

interface KnownOfFinal {
  readonly language?: string | null;
  readonly sureness?: number | null;
}

/** Judges a track's final texts, in their order, by the probabilities of their tokens. */
export class FinalConfidence {
  #language = new LanguageEvidence(LANGUAGE_TOKENS);

  /** Another language is spoken from now on: what was read before says nothing of it. */
  restart(): void {
    this.#language = new LanguageEvidence(LANGUAGE_TOKENS);
  }

  /**
   * @param logprobs of the text's tokens; null where there are none, empty after a loop
   * @param known `language` that it was read in, null = not known; `sureness` in place of what the probabilities say of
   *   the text, null = they do
   */
  judge(logprobs: Float32Array | null, { language = null, sureness = null }: KnownOfFinal = {}): JudgedFinal {
    this.#language.add(logprobs);
    const confidence = sureness ?? confidenceOf(logprobs);
    const read = language === null ? {} : { language };
    if (confidence === null) return { marks: read, isLeftOut: false };
    return {
      marks: {
        confidence,
        ...(confidence < LOW_CONFIDENCE ? { lowConfidence: true as const } : {}),
        ...(this.#language.isUnlikely ? { language: null } : read),
      },
      isLeftOut: this.#language.isCertain,
    };
  }
}
