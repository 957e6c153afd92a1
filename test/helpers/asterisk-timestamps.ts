/**
 * The timestamps that Asterisk gives to frames that bring none, as AudioSocket's do, on their way to a phone
 * (res/res_rtp_asterisk.c, rtp_raw_write): a frame's own length beyond the one before it, unless the time of day says
 * 640 samples more or less. Then it is the time of day, and the phone plays a gap.
 */
import { FRAME_MS } from '../../src/foundation/units.ts';

/** 640 samples of 8 kHz. */
const SKEW_MAX_MS = 80;

/** One call's. */
export class AsteriskTimestamps {
  #sentMs: number | null = null;
  #timestampMs = 0;
  #firstMs = 0;

  /** A frame of 20 ms comes at `atMs`. Returns the gap that is played before it; 0 = none. */
  frame(atMs: number): number {
    if (this.#sentMs === null) this.#firstMs = atMs;
    const sinceMs = Math.floor(atMs - (this.#sentMs ?? atMs - FRAME_MS));
    const jumps = Math.abs(sinceMs - FRAME_MS) >= SKEW_MAX_MS;
    this.#sentMs = atMs;
    this.#timestampMs += jumps ? sinceMs : FRAME_MS;
    return jumps ? sinceMs - FRAME_MS : 0;
  }

  /** How much sooner than it is to be played the last frame came: what the phone has to hold. */
  get aheadMs(): number {
    return this.#timestampMs - FRAME_MS - ((this.#sentMs ?? 0) - this.#firstMs);
  }
}
