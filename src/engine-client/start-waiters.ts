import { EngineError } from './engine.ts';

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: EngineError) => void;
}

/** Callers that wait for the first engine to be ready. */
export class StartWaiters {
  #waiters: Waiter[] = [];

  /** Resolves at the next {@link ready}. @throws EngineError `unavailable` at the next {@link refuse} */
  wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  ready(): void {
    for (const waiter of this.#take()) waiter.resolve();
  }

  refuse(message: string): void {
    for (const waiter of this.#take()) waiter.reject(new EngineError('unavailable', message));
  }

  #take(): Waiter[] {
    const waiters = this.#waiters;
    this.#waiters = [];
    return waiters;
  }
}
