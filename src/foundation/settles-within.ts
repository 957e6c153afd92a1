import type { Clock } from './clock.ts';

/** Resolves with true when `promise` is fulfilled or rejected, or with false after `limitMs`. */
export function settlesWithin(clock: Clock, promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(limitMs, () => resolve(false));
    const settled = () => {
      timer.cancel();
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
