/** The end of a job as a value, for those who wait for several at once. */
import type { Clock } from '../foundation/clock.ts';
import { EngineError } from './engine.ts';

/** What came of a job: never a rejection. */
export type Answer<T> = { readonly found: T } | { readonly error: unknown };

/** What comes of `promise`. */
export function toAnswer<T>(promise: Promise<T>): Promise<Answer<T>> {
  return promise.then(
    (found) => ({ found }),
    (error: unknown) => ({ error }),
  );
}

/** What `answer` resolves with, or null when that takes longer than `limitMs`. */
export async function within<T>(clock: Clock, limitMs: number, answer: Promise<T>): Promise<T | null> {
  let isOver: (value: null) => void = () => undefined;
  const over = new Promise<null>((resolve) => {
    isOver = resolve;
  });
  const timer = clock.after(limitMs, () => isOver(null));
  try {
    return await Promise.race([answer, over]);
  } finally {
    timer.cancel();
  }
}

/** Whether a job failed because nobody wants its answer any more. */
export function isCancelled(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'cancelled';
}

/** Aborted as soon as one of those is that are there. */
export function anyOf(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}
