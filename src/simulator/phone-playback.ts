/**
 * Playback of the phone behind an Asterisk that sends each frame on as it comes: only the phone's buffer makes up for
 * what is early or late.
 */

/** Sound that comes too early waits in the phone's buffer. More than this is thrown away. */
const BUFFER_MAX_MS = 200;

/** Counts what becomes of frames. Times in ms of any one clock. */
export class PhonePlayback {
  #heardMs = 0;
  #clippedMs = 0;
  #highestAheadMs = 0;
  #longestGapMs = 0;
  #playedUntilMs: number | null = null;

  /** Sound that was played. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Sound that was thrown away because too much of it came at once. */
  get clippedMs(): number {
    return this.#clippedMs;
  }

  /** Most sound that ever waited to be played, the frame that just came included. */
  get highestAheadMs(): number {
    return this.#highestAheadMs;
  }

  /** Longest time with nothing to play before the next frame came. */
  get longestGapMs(): number {
    return this.#longestGapMs;
  }

  /** A frame of `durationMs` comes at `nowMs`. Returns whether it is played. */
  receive(durationMs: number, nowMs: number): boolean {
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
