/** What jobs cost about: part of the contract, for those who choose between engines. */

/** Rough cost of a job on sound, in ms of model runs. Costs are there to compare engines by: their ratios count. */
export interface SoundCost {
  readonly perJobMs: number;
  /** For each second of sound. */
  readonly perSecondMs: number;
}

/** Rough cost of a job on text, in ms of model runs. */
export interface TextCost {
  readonly perJobMs: number;
  /** For each character at speed 1. */
  readonly perCharacterMs: number;
}

/** What each kind of job costs about. */
export interface JobCosts {
  readonly transcribe: SoundCost;
  /** These three: null where there is no such model. */
  readonly detect: SoundCost | null;
  readonly speak: TextCost | null;
  readonly turn: SoundCost | null;
}
