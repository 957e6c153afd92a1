import { alignedLength, commonPrefix, joinWords, mergeWords, splitWords, type Word } from './words.ts';

/** One utterance's text as far as it is known. Until the final, `text` is `stable` followed by `tail`. */
export interface Hypothesis {
  /** Words that will not change. */
  readonly stable: string;
  /** Words that may still change, with the space that parts them from `stable`. */
  readonly tail: string;
  readonly text: string;
}

/**
 * Makes one steady text of an utterance's hypotheses, by LocalAgreement-2 (Macháček, Dabre, Bojar: "Turning Whisper
 * into Real-Time Transcription System", 2023): a word is stable once two consecutive hypotheses agree on it and on all
 * words before it. Words are compared without case and punctuation, and kept as the newer hypothesis wrote them. The
 * last word of a hypothesis never becomes stable: the window's edge may have cut it, and the full stop behind it is
 * often only the edge.
 */
export class LocalAgreement {
  readonly #stable: Word[] = [];
  #stableText = '';
  #tail: readonly Word[] = [];

  /** What is known now. */
  get current(): Hypothesis {
    const text = joinWords(this.#stableText, this.#tail);
    return { stable: this.#stableText, tail: text.slice(this.#stableText.length), text };
  }

  /**
   * Takes the next hypothesis. Where it contradicts stable words, these stay and only its words after them count.
   * @param reachesStart whether its window begins with the utterance; otherwise it is merged with what was known
   */
  add(text: string, reachesStart: boolean): Hypothesis {
    const words = splitWords(text);
    const newest = reachesStart ? words : mergeWords([...this.#stable, ...this.#tail], words);
    const rest = newest.slice(alignedLength(this.#stable, newest));
    const agreed = Math.min(commonPrefix(this.#tail, rest), Math.max(rest.length - 1, 0));
    const settled = rest.slice(0, agreed);
    this.#stable.push(...settled);
    this.#stableText = joinWords(this.#stableText, settled);
    this.#tail = rest.slice(agreed);
    return this.current;
  }

  /**
   * Ends the utterance with `text`, the final decode. When it begins with the stable text, all of it
   * becomes stable; otherwise stable stays what it was (it never changes), the tail is empty, and only `text` is
   * right.
   */
  finish(text: string): Hypothesis {
    const whole = text.trim().replace(/\s+/gu, ' ');
    return { stable: whole.startsWith(this.#stableText) ? whole : this.#stableText, tail: '', text: whole };
  }
}
