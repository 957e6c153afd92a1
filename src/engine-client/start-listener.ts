/** Who is told of engines that start. */
export interface EngineStartListener {
  /** One of them is at something that takes a while, in words for the operator. */
  onProgress(text: string): void;
  /** One more can take work: so many of `workers` can. Called again for one that was started anew. */
  onReady(ready: number, workers: number): void;
}
