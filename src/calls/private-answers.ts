/** Keeps what the caller answers to a private question out of what is told of the call, and out of its sound. */
import type { Revision, SpeechEvent } from '../transcription/live-transcriber.ts';

/** In place of a key. */
const HIDDEN_KEY = '•';
/** Utterances that are remembered as private; a revision comes before there are more. */
const UTTERANCES_MAX = 64;

export class PrivateAnswers {
  readonly #hideSound: (isHidden: boolean) => void;
  /** Of the caller's track. */
  readonly #utterances = new Set<number>();
  #isOn = false;

  /** @param hideSound is told whether the call's sound is not to be recorded */
  constructor(hideSound: (isHidden: boolean) => void) {
    this.#hideSound = hideSound;
  }

  /** A private question is asked, or no more. */
  set(isOn: boolean): void {
    if (this.#isOn === isOn) return;
    this.#isOn = isOn;
    this.#hideSound(isOn);
  }

  /** A key that the caller pressed, as it is told. */
  key(digit: string): string {
    return this.#isOn ? HIDDEN_KEY : digit;
  }

  /** What the caller says, as it is told: a private utterance still ends, but has no words. */
  speech(event: SpeechEvent): SpeechEvent {
    if (event.type !== 'caption') return event;
    if (this.#isOn) this.#remember(event.utterance);
    if (!this.#utterances.has(event.utterance)) return event;
    const { confidence: _confidence, ...caption } = event;
    return { ...caption, stable: '', tail: '', text: '' };
  }

  /** A better text of an utterance, as it is told; null = not at all. */
  revision(revision: Revision): Revision | null {
    return this.#isOn || this.#utterances.has(revision.utterance) ? null : revision;
  }

  #remember(utterance: number): void {
    this.#utterances.add(utterance);
    const [oldest] = this.#utterances;
    if (this.#utterances.size > UTTERANCES_MAX && oldest !== undefined) this.#utterances.delete(oldest);
  }
}
