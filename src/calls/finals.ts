import type { FinalCaption } from './transcript.ts';

/** Finals kept for one call, some seven hours of talk. */
const FINALS_MAX = 5000;

/** A call's final captions as they came. Beyond {@link FINALS_MAX} the oldest go. */
export class Finals {
  readonly #kept: FinalCaption[] = [];
  #dropped = 0;

  /** Those that are kept, oldest first. It grows with the call. */
  get kept(): readonly FinalCaption[] {
    return this.#kept;
  }

  /** How many had to go. */
  get dropped(): number {
    return this.#dropped;
  }

  /** An empty final takes back what partials guessed: it is news, but no part of the transcript. */
  add(final: FinalCaption): void {
    if (final.text === '') return;
    this.#kept.push(final);
    if (this.#kept.length <= FINALS_MAX) return;
    this.#kept.shift();
    this.#dropped += 1;
  }
}
