/**
 * Silence for a carrier that plays each frame when it arrives: a frame every 20 ms while there is no speech. (For a
 * carrier that buffers see `websocket/buffered-silence.ts`.) Sound and silence share one schedule. Sound is sent as
 * soon as there is some, which may be a little early. The silence after it then begins later by the same time, so that
 * the far end's buffer does not grow from sentence to sentence.
 *
 * Asterisk gives late frames consecutive timestamps, but jumps to the current time when no frame has come for 100 ms
 * (res/res_rtp_asterisk.c, MAX_TIMESTAMP_SKEW: 640 samples of 8 kHz beyond a frame of 20 ms). The listener hears that
 * jump as a gap. So we never pause for that long unless the whole process stalls, and we send missed frames late only
 * while Asterisk keeps its timestamps consecutive.
 */
import type { Clock, Timer } from '../../foundation/clock.ts';
import { FRAME_MS } from '../../foundation/units.ts';

/** Silence waits for sound whose timer is late by less than this. */
const PATIENCE_MS = FRAME_MS;
/** If nothing was sent for this long, the far end has played a gap, and the missed frames are not sent. */
const HOLD_UP_MAX_MS = 100;
/** The longest time between two frames, however much the far end has buffered. */
const QUIET_MAX_MS = FRAME_MS + PATIENCE_MS;

interface PacedSilenceOptions {
  readonly clock: Clock;
  /** Sends one frame of silence. */
  send(): void;
}

export class PacedSilence {
  readonly #options: PacedSilenceOptions;
  /** When the far end will have played everything it was sent. */
  #filledToMs = 0;
  /** When the last frame, and the last frame of sound, was sent; in a group of frames, when it is due. */
  #sentMs = 0;
  #spokeMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;

  constructor(options: PacedSilenceOptions) {
    this.#options = options;
  }

  /** From now on the far end always has something to play. */
  begin(): void {
    this.#filledToMs = this.#options.clock.nowMs();
    this.#sentMs = this.#filledToMs;
    this.#watch();
  }

  /** Call this when `frames` of sound are sent. It resets the timer, which after a delay could fire too early. */
  spoke(frames: number): void {
    this.#fill(frames);
    this.#spokeMs = this.#sentMs;
    if (this.#timer !== null) this.#watch();
  }

  /** Stops sending silence. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #fill(frames: number): void {
    const nowMs = this.#options.clock.nowMs();
    const gapMs = nowMs - this.#sentMs;
    // After a gap the far end still has the lead that it had before.
    if (gapMs >= HOLD_UP_MAX_MS) this.#filledToMs += gapMs - FRAME_MS;
    this.#filledToMs += frames * FRAME_MS;
    this.#sentMs = nowMs + (frames - 1) * FRAME_MS;
  }

  /** No silence goes between two frames of sound, even where the schedule is behind. */
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
