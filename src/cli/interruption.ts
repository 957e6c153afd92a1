/** Handles Ctrl-C in commands that end by themselves. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The first SIGINT or SIGTERM; a second one kills as usual. */
export class Interruption {
  /** Resolves when the signal comes. */
  readonly promise: Promise<void>;
  #came = false;
  #ignore: () => void = () => undefined;

  /** Runs `onSignal` when the signal comes. */
  constructor(onSignal: () => void) {
    this.promise = new Promise((resolve) => {
      const listener = () => {
        this.ignore();
        this.#came = true;
        onSignal();
        resolve();
      };
      for (const name of SIGNALS) process.on(name, listener);
      this.#ignore = () => {
        for (const name of SIGNALS) process.off(name, listener);
      };
    });
  }

  /** Whether the signal came. */
  get came(): boolean {
    return this.#came;
  }

  /** Removes the signal handlers. */
  ignore(): void {
    this.#ignore();
  }
}
