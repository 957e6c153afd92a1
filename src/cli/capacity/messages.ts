/** The messages between the command and the thread of its callers. */

/** Calls to be placed. */
export interface CallersTask {
  /** Where Twilio would stream them, `ws:`. */
  readonly url: string;
  readonly calls: number;
  readonly seconds: number;
  /** Of the time that each caller speaks, 0 to 1. */
  readonly speechShare: number;
}

/** The result when they have ended. */
export interface CallersAnswer {
  /** Calls that the server refused or ended early. */
  readonly refused: number;
}
