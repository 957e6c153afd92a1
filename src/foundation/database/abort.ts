/** Reads that end with whoever asked for them. */
import { AsyncLocalStorage } from 'node:async_hooks';

const signals = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs `work`, whose reads of a database are given up when `signal` aborts: those that wait are not run any more, and
 * PostgreSQL ends the one that runs. `work` must only read.
 * @throws the reason of `signal`; what `work` throws
 */
export function abortable<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return signals.run(signal, work);
}

/** The signal of the work that this is part of; undefined = it is not {@link abortable}. */
export function abortSignal(): AbortSignal | undefined {
  return signals.getStore();
}
