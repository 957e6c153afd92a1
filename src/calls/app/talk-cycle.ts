import type { Clock, Timer } from '../../foundation/clock.ts';
import type { CallVoice, OpenUtterance, SayOptions } from '../outbound/voice.ts';
import { checkAnswerLength } from './answer-length.ts';

/** How much of the text that the caller heard is kept: the last characters. */
const HEARD_MAX_CHARS = 10_000;

interface TalkCycleOptions {
  readonly voice: Pick<CallVoice, 'open'>;
  /** Taken from the cycle's first text. */
  readonly style: SayOptions;
  readonly clock: Clock;
  /** After this long without new text, the text received so far is spoken; 0 = never. */
  readonly flushMs: number;
  /** An utterance of the cycle has begun. */
  onUtterance(id: string): void;
  /** No text came for `flushMs`, so the text received so far is spoken. */
  onFlush(): void;
  /** Runs work that the cycle's timer starts. `action` may throw as {@link CallVoice.open} does. */
  attempt(action: () => void): void;
}

/**
 * One talk cycle of the app, from its first text to its `last`. Usually it is one utterance. If the app stops sending
 * in the middle, or never sends `last`, we speak the text received so far: it must not wait for the end of a sentence
 * that may never come. Text that comes later becomes another utterance in the same style.
 */
export class TalkCycle {
  readonly #options: TalkCycleOptions;
  /** The utterance that takes text; null = all text so far is being spoken or was spoken. */
  #open: OpenUtterance | null = null;
  /** Perhaps the beginning of a word. It waits for the rest of the word, but no longer than another `flushMs`. */
  #word = '';
  #quiet: Timer | null = null;
  #begun = false;
  /** Of all its text so far. */
  #chars = 0;
  #heardText = '';
  #heardMs = 0;

  constructor(options: TalkCycleOptions) {
    this.#options = options;
  }

  /** Whether all text so far was handed over to be spoken. More may come. */
  get isPaused(): boolean {
    return this.#open === null;
  }

  /** How much the caller heard of the cycle's finished utterances. */
  get heard(): { readonly text: string; readonly ms: number } {
    return { text: this.#heardText, ms: this.#heardMs };
  }

  /**
   * Adds text, which is never empty. Throws `answer_too_long`, and as {@link CallVoice.open} and
   * {@link OpenUtterance.write} do.
   */
  write(text: string): void {
    this.#chars += text.length;
    checkAnswerLength(this.#chars);
    this.#quiet?.cancel();
    const said = this.#word + text;
    this.#word = '';
    this.#utterance().write(said);
    this.#whenQuiet(() => this.#flush());
  }

  /** No more text will come: the rest is spoken. */
  end(): void {
    this.#quiet?.cancel();
    if (this.#word !== '') this.#options.attempt(() => this.#sayWord());
    this.#open?.end();
    this.#open = null;
  }

  /** The cycle was interrupted: the rest is not spoken. */
  drop(): void {
    this.#quiet?.cancel();
    this.#word = '';
    this.#open = null;
  }

  /** The caller heard one of the cycle's utterances to its end. */
  noteHeard(id: string, text: string, ms: number): void {
    this.#heardText = (this.#heardText + text).slice(-HEARD_MAX_CHARS);
    this.#heardMs += ms;
    // The utterance ended early, because it could not be synthesized. New text needs a new utterance.
    if (this.#open?.id === id) this.#open = null;
  }

  #utterance(): OpenUtterance {
    if (this.#open !== null) return this.#open;
    const { voice, style, onUtterance } = this.#options;
    this.#open = voice.open(this.#begun ? { ...style, goesOn: true } : style);
    this.#begun = true;
    onUtterance(this.#open.id);
    return this.#open;
  }

  #whenQuiet(action: () => void): void {
    const { clock, flushMs, attempt } = this.#options;
    if (flushMs > 0) this.#quiet = clock.after(flushMs, () => attempt(action));
  }

  #flush(): void {
    const rest = this.#open?.cut();
    if (rest === undefined) return;
    if (rest !== null) {
      this.#options.onFlush();
      this.#open = null;
      this.#word = rest;
    }
    // If nothing follows, the kept characters are a whole word.
    if (rest !== '') this.#whenQuiet(() => this.end());
  }

  #sayWord(): void {
    const word = this.#word;
    this.#word = '';
    this.#utterance().write(word);
  }
}
