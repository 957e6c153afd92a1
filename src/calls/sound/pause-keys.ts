/** The longest pause between two keys of one row. */
const KEYS_MAX_GAP_MS = 4000;

/** Finds a row of keys (RECORD_PAUSE_KEY) among those that a caller presses. */
export class PauseKeys {
  readonly #row: string;
  #pressed = '';
  #lastMs = 0;

  /** `row` empty = none is ever found. */
  constructor(row: string) {
    this.#row = row;
  }

  /** A key was pressed; whether the row is complete with it. */
  press(digit: string, nowMs: number): boolean {
    if (this.#row === '') return false;
    const isLate = nowMs - this.#lastMs > KEYS_MAX_GAP_MS;
    this.#lastMs = nowMs;
    this.#pressed = `${isLate ? '' : this.#pressed}${digit}`.slice(-this.#row.length);
    if (this.#pressed !== this.#row) return false;
    this.#pressed = '';
    return true;
  }
}
