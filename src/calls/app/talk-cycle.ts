import type { Clock, Timer } from '../../foundation/clock.ts';
import type { CallVoice, OpenUtterance, SayOptions } from '../outbound/voice.ts';

/** What was heard of a cycle is remembered up to this length: the end of it. */
const HEARD_MAX_CHARS = 10_000;

interface TalkCycleOptions {
  readonly voice: Pick<CallVoice, 'open'>;
  /** As the first text of the cycle asks for. */
  readonly style: SayOptions;
  readonly clock: Clock;
  /** When no text has come for this long, what there is is said; 0 = never. */
  readonly flushMs: number;
  /** An utterance of the cycle was begun. */
  onUtterance(id: string): void;
  /** No text came for `flushMs`, and something is said for that reason. */
  onFlush(): void;
  /** Whatever the cycle does by itself is done inside: it may throw as {@link CallVoice.open} does. */
  attempt(action: () => void): void;
}

/**
 * One talk cycle of the app, from its first text to its `last`. Usually it is one utterance. An app that falls silent
 * in the midst of it, or never says `last`, has what it said so far said, so that nothing waits for a sentence's end
 * that does not come, and the cycle talks no more; text that comes after that is another utterance in the same manner.
 */
export class TalkCycle {
  readonly #options: TalkCycleOptions;
  /** Takes text; null = all that came is being said, or has been. */
  #open: OpenUtterance | null = null;
  /** Perhaps the beginning of a word: waits for the rest of it, but no longer than another `flushMs`. */
  #word = '';
  #quiet: Timer | null = null;
  #begun = false;
  #heardText = '';
  #heardMs = 0;

  constructor(options: TalkCycleOptions) {
    this.#options = options;
  }

  /** Whether everything is said that came so far; more may come. */
  get isPaused(): boolean {
    return this.#open === null;
  }

  /** What the caller heard of those of its utterances that are over. */
  get heard(): { readonly text: string; readonly ms: number } {
    return { text: this.#heardText, ms: this.#heardMs };
  }

  /** More text, never empty. Throws as {@link CallVoice.open} and {@link OpenUtterance.write} do. */
  write(text: string): void {
    this.#quiet?.cancel();
    const said = this.#word + text;
    this.#word = '';
    this.#utterance().write(said);
    this.#listen(() => this.#flush());
  }

  /** No more text: what there is is said. */
  end(): void {
    this.#quiet?.cancel();
    if (this.#word !== '') this.#options.attempt(() => this.#sayWord());
    this.#open?.end();
    this.#open = null;
  }

  /** It was cut off: whatever is left of it is not said. */
  drop(): void {
    this.#quiet?.cancel();
    this.#word = '';
    this.#open = null;
  }

  /** One of its utterances was heard to its end. */
  noteHeard(id: string, text: string, ms: number): void {
    this.#heardText = (this.#heardText + text).slice(-HEARD_MAX_CHARS);
    this.#heardMs += ms;
    // It could not be said any further; what comes now is another's.
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

  #listen(action: () => void): void {
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
    // A word without an end is one after all when nothing follows it.
    if (rest !== '') this.#listen(() => this.end());
  }

  #sayWord(): void {
    const word = this.#word;
    this.#word = '';
    this.#utterance().write(word);
  }
}
