/** A prompt in a list of those that are cached. Times are wall-clock ms. */
export interface CachedPrompt {
  /** Its name in the cache. */
  readonly id: string;
  readonly bytes: number;
  readonly madeMs: number;
  /** On disk from an earlier start: when it was made. */
  readonly usedMs: number;
}
