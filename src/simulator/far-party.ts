/**
 * The phone behind an Asterisk that plays each frame as it comes: its buffer is all that stands between a bridge's
 * timers and an ear.
 */

/** What a phone holds of sound that comes too early: more is thrown away. */
const BUFFER_MAX_MS = 200;

/** Counts what becomes of frames. Times in ms of any one clock. */
export class FarParty {
  #heardMs = 0;
  #clippedMs = 0;
  #highestAheadMs = 0;
  #longestGapMs = 0;
  #playedUntilMs: number | null = null;

  /** Sound that was played, and sound that was thrown away because too much of it came at once. */
  get heardMs(): number {
    return this.#heardMs;
  }

  get clippedMs(): number {
    return this.#clippedMs;
  }

  /** Most sound that ever waited to be played, the frame that just came included. */
  get highestAheadMs(): number {
    return this.#highestAheadMs;
  }

  /** Longest time between the end of what was there to be played and the next frame. */
  get longestGapMs(): number {
    return this.#longestGapMs;
  }

  /** `durationMs` of sound come at `nowMs`. Returns whether they are played. */
  hear(durationMs: number, nowMs: number): boolean {
    const playedUntilMs = this.#playedUntilMs ?? nowMs;
    this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - playedUntilMs);
    const untilMs = Math.max(playedUntilMs, nowMs) + durationMs;
    if (untilMs - nowMs > BUFFER_MAX_MS) {
      this.#clippedMs += durationMs;
      return false;
    }
    this.#playedUntilMs = untilMs;
    this.#heardMs += durationMs;
    this.#highestAheadMs = Math.max(this.#highestAheadMs, untilMs - nowMs);
    return true;
  }
}
