/** Where speech lies in an utterance that is running, and the pauses between. */
import type { Span } from './speech-clips.ts';

/** Of one utterance. Sample numbers count from the start of the track. */
export class SpokenSpans {
  readonly #spans: Span[] = [];
  /** Where the speech that goes on began; null in a pause. */
  #speakingFrom: number | null;

  constructor(speechFrom: number) {
    this.#speakingFrom = speechFrom;
  }

  /** A pause begins at `at`; it may be known already. */
  pauseAt(at: number): void {
    if (this.#speakingFrom !== null) this.#spans.push({ from: this.#speakingFrom, to: at });
    this.#speakingFrom = null;
  }

  /** Speech goes on at `at`. */
  resumeAt(at: number): void {
    this.#speakingFrom ??= at;
  }

  /** In order, those before `speechTo`, where the utterance ends. Never empty. */
  until(speechTo: number): readonly Span[] {
    const last = this.#speakingFrom === null ? [] : [{ from: this.#speakingFrom, to: speechTo }];
    const spans = [...this.#spans, ...last]
      .map(({ from, to }) => ({ from, to: Math.min(to, speechTo) }))
      .filter(({ from, to }) => to > from);
    return spans.length > 0 ? spans : [{ from: speechTo, to: speechTo }];
  }
}
