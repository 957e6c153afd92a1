/**
 * Limits how much work runs at once. The next work is that of the tenant with the least running work; among equals, the
 * work that came first.
 */
export class Turns {
  readonly #most: number;
  /** The tenants of running work, one entry for each work. */
  readonly #served: string[] = [];
  readonly #waiting: { readonly tenant: string; begin(): void }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Runs `work` of `tenant` when it is its turn. @throws what `work` throws; the reason of `signal` when that aborts
   * before
   */
  async take<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#wait(tenant, signal);
    try {
      return await work();
    } finally {
      this.#served.splice(this.#served.indexOf(tenant), 1);
      this.#beginNext();
    }
  }

  #wait(tenant: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        this.#served.push(tenant);
        resolve();
      };
      const waiting = { tenant, begin };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#beginNext();
    });
  }

  #beginNext(): void {
    if (this.#served.length >= this.#most) return;
    const [next] = this.#waiting.toSorted((a, b) => this.#servedFor(a.tenant) - this.#servedFor(b.tenant));
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    next.begin();
  }

  #servedFor(tenant: string): number {
    return this.#served.filter((served) => served === tenant).length;
  }
}
