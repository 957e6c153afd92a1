/** Values that are there at once where nothing has to be asked for, and otherwise later. */

/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** `next` of `value`: at once, in the same turn of the event loop, unless `value` is a promise. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
