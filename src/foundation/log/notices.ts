import type { Clock } from '../clock.ts';

/** What the log is told of once in a while, because anybody can cause it again and again. */
export class Notices {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #toldAtMs = new Map<string, number>();

  /** @param periodMs for so long nothing is told again */
  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** Whether `what` is to be told now; then it counts as told. It is remembered, so it must be one of few. */
  isDue(what: string): boolean {
    const nowMs = this.#clock.nowMs();
    if (nowMs - (this.#toldAtMs.get(what) ?? -Infinity) < this.#periodMs) return false;
    this.#toldAtMs.set(what, nowMs);
    return true;
  }
}
