import type { VoiceInfo } from '../../engine/contract.ts';

/** What the engines speak with and listen with. */
export interface ReadyModels {
  readonly voices: readonly VoiceInfo[];
  /** Null = none. */
  readonly turnModel: string | null;
}

/** Who is told of engines that start. */
export interface EngineStartListener {
  /** One of them is at something that takes a while, in words for the operator. */
  onProgress(text: string): void;
  /**
   * One more can take work: so many of `workers` can, with these models. Called again for one that was started anew.
   */
  onReady(ready: number, workers: number, models: ReadyModels): void;
}
