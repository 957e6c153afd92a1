/**
 * A list that grows while it is read: whoever reads it gets all of it from its beginning, and waits for what is still
 * to come.
 */
export class GrowingList<T> {
  readonly #items: T[] = [];
  /** Null = it still grows. A failure is thrown to each reader behind the last item. */
  #end: { readonly failure?: unknown } | null = null;
  #waiters: (() => void)[] = [];

  /** What there is so far. */
  get items(): readonly T[] {
    return this.#items;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#wake();
  }

  /** Nothing more comes. */
  end(): void {
    this.#end = {};
    this.#wake();
  }

  /** Nothing more comes, because of `failure`. */
  fail(failure: unknown): void {
    this.#end = { failure };
    this.#wake();
  }

  /** All items in order. Ends early when the signal aborts. Throws what the list failed with. */
  async *read(signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
    const wake = (): void => this.#wake();
    signal?.addEventListener('abort', wake, { once: true });
    try {
      for (let next = 0; signal?.aborted !== true; ) {
        if (next < this.#items.length) yield this.#items[next++] as T;
        else if (this.#end === null) await new Promise<void>((resolve) => this.#waiters.push(resolve));
        else if ('failure' in this.#end) throw this.#end.failure;
        else return;
      }
    } finally {
      signal?.removeEventListener('abort', wake);
    }
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
