/**
 * Which moment of a call it is at a time of the clock. A call's time counts the sound that has come. Chunks come
 * late, never early, so the one with the least delay tells; of the last 10 to 20 s of sound, because the clocks of
 * carriers differ from ours by up to some ms a minute.
 */

const WINDOW_MS = 10_000;

export class CallTime {
  #windowFromMs: number | null = null;
  /** How far the call's time is behind the clock, at least: in the window before this one, and in this one. */
  #before = Number.POSITIVE_INFINITY;
  #now = Number.POSITIVE_INFINITY;

  /** At `nowMs` of the clock, sound had come up to `callMs` of the call. */
  observe(callMs: number, nowMs: number): void {
    this.#windowFromMs ??= callMs;
    if (callMs - this.#windowFromMs >= WINDOW_MS) {
      this.#windowFromMs = callMs;
      this.#before = this.#now;
      this.#now = Number.POSITIVE_INFINITY;
    }
    this.#now = Math.min(this.#now, nowMs - callMs);
  }

  /** Whether anything was observed. */
  get isKnown(): boolean {
    return this.#windowFromMs !== null;
  }

  /** The moment of the call at `atMs` of the clock, in ms; never below 0. */
  at(atMs: number): number {
    return Math.max(atMs - Math.min(this.#before, this.#now), 0);
  }
}
