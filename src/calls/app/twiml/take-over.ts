/** Whether somebody has taken the call over from whoever talks in it, and a way to wait until it is given back. */
export class TakeOver {
  #isOn = false;
  #waiters: (() => void)[] = [];

  get isOn(): boolean {
    return this.#isOn;
  }

  /** The call is taken over, or given back. */
  set(isOn: boolean): void {
    this.#isOn = isOn;
    if (isOn) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** Resolves when nobody has the call, at once if that is so. */
  async over(): Promise<void> {
    while (this.#isOn) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }
}
