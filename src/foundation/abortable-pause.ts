import type { Clock } from './clock.ts';

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
