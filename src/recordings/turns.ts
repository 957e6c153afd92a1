/** Who may do something of which only so much is done at once; the others wait in the order in which they came. */
export class Turns {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs `work` when it is its turn. @throws what `work` throws; the reason of `signal` when that aborts before */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#wait(signal);
    try {
      return await work();
    } finally {
      this.#taken--;
      this.#waiting.shift()?.();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) {
      this.#taken++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        this.#taken++;
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(begin);
    });
  }
}
