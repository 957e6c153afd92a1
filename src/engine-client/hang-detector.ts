/** Notices that an engine process has work but does not respond. */
import type { Clock, Timer } from '../foundation/clock.ts';

/**
 * How often the detector looks whether the process has sent anything. One that answers jobs all the time is never
 * asked.
 */
const LOOK_MS = 250;

/** The process that is watched, and the callbacks. */
export interface HangDetectorOptions {
  readonly clock: Clock;
  /** Whether the process owes an answer; without work it may be silent. */
  hasWork(): boolean;
  /** Asks the process for a sign of life. */
  ask(): void;
  /** The process was asked `silentMs` ago and has said nothing since. Called at every look while that lasts. */
  onSilent(silentMs: number): void;
}

/**
 * Silence is counted in looks, not by the clock. While the gateway itself did not run (its event loop was blocked, or
 * the machine was suspended) it looked once at most, and it reads the process's messages before it looks again. So such
 * a gap is not taken for a hang.
 */
export class HangDetector {
  readonly #options: HangDetectorOptions;
  #timer: Timer | null = null;
  /** Whether something was received since the last look. */
  #isReceived = false;
  /** Looks since the process was asked, that one included; 0 = it has not been asked, or has answered. */
  #looks = 0;

  constructor(options: HangDetectorOptions) {
    this.#options = options;
  }

  /** Whether the process has been asked for a sign of life and has not given any. */
  get isAsked(): boolean {
    return this.#looks > 0;
  }

  /** The process was given work. */
  begin(): void {
    if (this.#timer === null) this.#lookLater();
  }

  /** A message of the process arrived. */
  received(): void {
    this.#isReceived = true;
    this.#looks = 0;
  }

  /** Ends the watch. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.after(LOOK_MS, () => this.#look());
  }

  #look(): void {
    const { hasWork, ask, onSilent } = this.#options;
    this.#timer = null;
    const wasReceived = this.#isReceived;
    this.#isReceived = false;
    if (!hasWork()) return;
    this.#lookLater();
    if (wasReceived) return;
    this.#looks++;
    if (this.#looks === 1) ask();
    onSilent((this.#looks - 1) * LOOK_MS);
  }
}
