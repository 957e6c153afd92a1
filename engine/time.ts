/** The only file of the engine that knows the time and the event loop. */

/** What the scheduler needs of the machine; tests bring their own. */
export interface Time {
  /** Monotonic time in ms (fractional); only differences mean anything. */
  nowMs(): number;
  /** Resolves after the event loop has been once round, so that messages which have arrived are handed over. */
  letMessagesIn(): Promise<void>;
}

/** The machine's own time. `setImmediate` comes after the poll phase, in which the IPC channel is read. */
export const systemTime: Time = Object.freeze({
  nowMs: () => performance.now(),
  letMessagesIn: () => new Promise<void>((resolve) => setImmediate(resolve)),
});

/** Resolves after `ms`. For what is waited for at the start, before there are jobs. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
