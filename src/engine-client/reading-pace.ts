/** How long readings take, by the estimates of the model table, which say little of this machine and its load. */

/** A reading changes the pace by this share; so does each one that was not tried. */
const CHANGE = 0.2;
const PACE_MIN = 0.05;
const PACE_MAX = 50;

/**
 * The ratio of real to estimated time. While nothing is tried it goes back to 1, so that a slow time is not for ever.
 */
export class ReadingPace {
  #pace = 1;

  /** The time that an estimate comes to, in ms. */
  expectedMs(estimateMs: number): number {
    return estimateMs * this.#pace;
  }

  /** A reading that was estimated at `estimateMs` took `tookMs`, or at least so long. */
  note(estimateMs: number, tookMs: number): void {
    if (estimateMs > 0) this.#moveTo(Math.min(Math.max(tookMs / estimateMs, PACE_MIN), PACE_MAX));
  }

  /** A reading was not tried because of {@link expectedMs}. */
  skip(): void {
    this.#moveTo(1);
  }

  #moveTo(pace: number): void {
    this.#pace += (pace - this.#pace) * CHANGE;
  }
}
