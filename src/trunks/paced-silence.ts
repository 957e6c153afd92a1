/**
 * Silence for a line that plays each frame as it comes (one that plays from a buffer: `calls/buffered-silence.ts`): whenever nothing is said, a frame every
 * 20 ms. Sound and silence share one schedule. Sound begins when it is there and so may be a little early; then the silence after it begins so much later,
 * and the far end's buffer does not grow from sentence to sentence.
 */
import type { Clock, Timer } from '../clock.ts';
import { FRAME_MS } from '../units.ts';

/** Sound whose timer is late by less than this is not overtaken by silence. */
const PATIENCE_MS = FRAME_MS;
/** After a longer hold-up the schedule begins anew: what was missed is not sent. */
const HOLD_UP_MAX_MS = 3 * FRAME_MS;

interface PacedSilenceOptions {
  readonly clock: Clock;
  /** Sends one frame of silence. */
  send(): void;
}

export class PacedSilence {
  readonly #options: PacedSilenceOptions;
  /** Until when the far end has something to play. */
  #filledToMs = 0;
  #timer: Timer | null = null;

  constructor(options: PacedSilenceOptions) {
    this.#options = options;
  }

  /** From now on there is always something to play. */
  begin(): void {
    this.#filledToMs = this.#options.clock.nowMs();
    this.#watch();
  }

  /** `frames` of sound are sent now. */
  spoke(frames: number): void {
    this.#catchUp();
    this.#filledToMs += frames * FRAME_MS;
  }

  /** No more. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #catchUp(): void {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - this.#filledToMs > HOLD_UP_MAX_MS) this.#filledToMs = nowMs;
  }

  #watch(): void {
    const { clock, send } = this.#options;
    const inMs = this.#filledToMs + PATIENCE_MS - clock.nowMs();
    this.#timer = clock.after(Math.max(inMs, 0), () => {
      this.#catchUp();
      if (clock.nowMs() >= this.#filledToMs + PATIENCE_MS) {
        this.#filledToMs += FRAME_MS;
        send();
      }
      if (this.#timer !== null) this.#watch();
    });
  }
}
