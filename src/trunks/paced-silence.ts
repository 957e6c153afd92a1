/**
 * Silence for a line that plays each frame as it comes (one that plays from a buffer: `calls/buffered-silence.ts`):
 * whenever nothing is said, a frame every 20 ms. Sound and silence share one schedule. Sound begins when it is there
 * and so may be a little early; then the silence after it begins so much later, and the far end's buffer does not grow
 * from sentence to sentence.
 *
 * Asterisk gives frames that follow one another timestamps that do, however late they are, but jumps to the time of day
 * when none has come for 100 ms (res/res_rtp_asterisk.c, MAX_TIMESTAMP_SKEW: 640 samples of 8 kHz beyond a frame of 20
 * ms). The listener hears that as a gap, so the line is never left alone for so long unless the whole process is, and
 * what was missed is made up for only as long as the timestamps will.
 */
import type { Clock, Timer } from '../foundation/clock.ts';
import { FRAME_MS } from '../foundation/units.ts';

/** Sound whose timer is late by less than this is not overtaken by silence. */
const PATIENCE_MS = FRAME_MS;
/** When nothing was sent for so long the far end has played a gap: what was missed is not sent. */
const HOLD_UP_MAX_MS = 100;
/** However much the far end has to play already, it gets its next frame after this. */
const QUIET_MAX_MS = FRAME_MS + PATIENCE_MS;

interface PacedSilenceOptions {
  readonly clock: Clock;
  /** Sends one frame of silence. */
  send(): void;
}

export class PacedSilence {
  readonly #options: PacedSilenceOptions;
  /** Until when the far end has something to play. */
  #filledToMs = 0;
  /** When the last frame, and the last one of sound, was sent or would have been by itself. */
  #sentMs = 0;
  #spokeMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;

  constructor(options: PacedSilenceOptions) {
    this.#options = options;
  }

  /** From now on there is always something to play. */
  begin(): void {
    this.#filledToMs = this.#options.clock.nowMs();
    this.#sentMs = this.#filledToMs;
    this.#watch();
  }

  /** `frames` of sound are sent now. The timer is set anew: after a hold-up the next frame's goes off before it. */
  spoke(frames: number): void {
    this.#fill(frames);
    this.#spokeMs = this.#sentMs;
    if (this.#timer !== null) this.#watch();
  }

  /** No more. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #fill(frames: number): void {
    const nowMs = this.#options.clock.nowMs();
    const gapMs = nowMs - this.#sentMs;
    // What the far end had ahead it still has after a gap.
    if (gapMs >= HOLD_UP_MAX_MS) this.#filledToMs += gapMs - FRAME_MS;
    this.#filledToMs += frames * FRAME_MS;
    this.#sentMs = nowMs + (frames - 1) * FRAME_MS;
  }

  /** Between two frames of sound there is room for none of silence, even where the schedule has some to make up for. */
  get #dueMs(): number {
    return Math.min(
      Math.max(this.#filledToMs + PATIENCE_MS, this.#spokeMs + QUIET_MAX_MS),
      this.#sentMs + QUIET_MAX_MS,
    );
  }

  #watch(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.after(Math.max(this.#dueMs - clock.nowMs(), 0), () => {
      if (clock.nowMs() >= this.#dueMs) this.#sendSilence();
      if (this.#timer !== null) this.#watch();
    });
  }

  #sendSilence(): void {
    this.#fill(1);
    this.#options.send();
  }
}
