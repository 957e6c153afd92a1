import type { Clock } from '../foundation/clock.ts';

const FIRST_MS = 100;
const LONGEST_MS = 2000;

/** How long to wait after the n-th failure in a row (n from 1): 100 ms, doubled each time, at most 2 s. */
export function backOffMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
}

/** Resolves after `delayMs`, or as soon as `signal` aborts; leaves no timer behind. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
