/** Notices that an engine process has work and gives no sign of life. */
import type { Clock, Timer } from '../foundation/clock.ts';

/**
 * How often it is looked whether the process was heard of. One that answers jobs all the time is never asked for
 * anything else.
 */
const LOOK_MS = 250;

/** Whose silence is watched, and who is told. */
export interface SilenceOptions {
  readonly clock: Clock;
  /** Whether the process owes an answer; without work it may be silent. */
  hasWork(): boolean;
  /** Asks the process for a sign of life. */
  ask(): void;
  /** The process was asked `silentMs` ago and has said nothing since. Called at every look while that lasts. */
  onSilent(silentMs: number): void;
}

/**
 * Silence is counted in looks, not by the clock. While the gateway did not run itself (its event loop was held up, the
 * machine was suspended) it looked once at most, and reads what the process said meanwhile before it looks again: such
 * a gap makes nobody suspect.
 */
export class SilenceWatch {
  readonly #options: SilenceOptions;
  #timer: Timer | null = null;
  /** Whether something was heard since the last look. */
  #isHeard = false;
  /** Looks since the process was asked, that one included; 0 = it has not been asked, or has answered. */
  #looks = 0;

  constructor(options: SilenceOptions) {
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

  /** The process said something. */
  heard(): void {
    this.#isHeard = true;
    this.#looks = 0;
  }

  /** Nobody listens any more. */
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
    const wasHeard = this.#isHeard;
    this.#isHeard = false;
    if (!hasWork()) return;
    this.#lookLater();
    if (wasHeard) return;
    this.#looks++;
    if (this.#looks === 1) ask();
    onSilent((this.#looks - 1) * LOOK_MS);
  }
}
