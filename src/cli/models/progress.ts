/** How far an add, a check or a bundle is: a bar on a terminal, else a line for each step. */
import type { Clock } from '../../foundation/clock.ts';
import { formatBytes } from '../../foundation/format-bytes.ts';
import type { Output } from '../terminal.ts';

const BAR_CHARS = 24;
const REDRAW_MS = 100;

/** The progress of one step at a time. */
export class Progress {
  readonly #err: Output;
  readonly #clock: Clock;
  #text = '';
  #bytes = 0;
  #total = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(err: Output, clock: Clock) {
    this.#err = err;
    this.#clock = clock;
  }

  /** Begins a step of `total` bytes; 0 = nobody knows how many. */
  begin(text: string, total: number): void {
    this.#text = text;
    this.#bytes = 0;
    this.#total = total;
    if (!this.#err.isLive) this.#err.line(total === 0 ? text : `${text} (${formatBytes(total)})`);
    this.#draw();
  }

  /** Counts bytes that were done; negative ones are to be done again. */
  readonly add = (bytes: number): void => {
    this.#bytes = Math.max(0, this.#bytes + bytes);
    if (this.#clock.nowMs() - this.#drawnMs >= REDRAW_MS) this.#draw();
  };

  /** Removes the bar. */
  end(): void {
    this.#err.live([]);
  }

  #draw(): void {
    if (!this.#err.isLive) return;
    this.#drawnMs = this.#clock.nowMs();
    this.#err.live([{ head: this.#total === 0 ? '' : `${this.#bar()} `, text: this.#text }]);
  }

  #bar(): string {
    const share = Math.min(1, this.#bytes / this.#total);
    const full = Math.round(share * BAR_CHARS);
    const done = `${Math.floor(share * 100)} %`.padStart(5);
    return `[${'#'.repeat(full)}${'.'.repeat(BAR_CHARS - full)}]${done}`;
  }
}
