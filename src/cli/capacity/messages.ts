/** What the command and its callers' thread say to each other. */

/** Calls to be placed. */
export interface CallersOrder {
  /** Where Twilio would stream them, `ws:`. */
  readonly url: string;
  readonly calls: number;
  readonly seconds: number;
  /** Of the time that each caller speaks, 0 to 1. */
  readonly speechShare: number;
}

/** They are over. */
export interface CallersAnswer {
  /** Calls that were not taken, or not kept to their end. */
  readonly refused: number;
}
