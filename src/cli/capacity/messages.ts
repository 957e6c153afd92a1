/** The messages between the command and the thread of the callers. */

/** Calls to be placed. */
export interface CallersTask {
  /** The URL of the media stream, `ws:`. */
  readonly url: string;
  readonly calls: number;
  readonly seconds: number;
  /** The share of the time in which each caller speaks, 0 to 1. */
  readonly speechShare: number;
}

/** The result when they have ended. */
export interface CallersAnswer {
  /** Calls that the server refused or ended early. */
  readonly refused: number;
}
