import type { Clock, Timer } from '../../foundation/clock.ts';

/** So long rows stay at least: a gateway whose connection broke reads on from where it was. */
const KEPT_MS = 60_000;
const PERIOD_MS = 1000;

interface UpkeepOptions {
  /** So many rows stay. */
  readonly history: number;
  readonly clock: Clock;
  /** Deletes all rows up to this number. */
  readonly trim: (number: number) => void;
}

/** Has old rows of the feed deleted, once a second while there are any. */
export class RowUpkeep {
  readonly #options: UpkeepOptions;
  /** How far the feed was, second by second, the oldest first. */
  readonly #marks: { readonly atMs: number; readonly number: number }[] = [];
  #timer: Timer | null = null;
  #last = 0;
  #trimmed = 0;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  /** The feed has come to `number`. */
  note(number: number): void {
    if (number <= this.#last) return;
    this.#last = number;
    this.#timer ??= this.#options.clock.after(PERIOD_MS, () => this.#look(), true);
  }

  #look(): void {
    this.#timer = null;
    const { clock, history, trim } = this.#options;
    const nowMs = clock.nowMs();
    this.#marks.push({ atMs: nowMs, number: this.#last });
    let old = 0;
    while ((this.#marks[0]?.atMs ?? nowMs) <= nowMs - KEPT_MS) old = this.#marks.shift()?.number ?? old;
    const upTo = Math.min(old, this.#last - history);
    if (upTo > this.#trimmed) {
      this.#trimmed = upTo;
      trim(upTo);
    }
    // Rows grow old where nothing new comes, too.
    if (this.#trimmed < this.#last - history) this.#timer = clock.after(PERIOD_MS, () => this.#look(), true);
  }
}
