import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';

/** A shorter time says little. */
const SPAN_MS = 5000;

/** Share of its time that the event loop of this thread worked, instead of waiting for something to do. */
export class ThreadUse {
  readonly #clock: Clock;
  readonly #read: (since?: EventLoopUtilization) => EventLoopUtilization;
  #since: EventLoopUtilization;
  #sinceMs: number;
  #last = 0;

  /** @param read what Node says, in all or since it was asked before */
  constructor(clock: Clock, read = (since?: EventLoopUtilization) => performance.eventLoopUtilization(since)) {
    this.#clock = clock;
    this.#read = read;
    this.#since = read();
    this.#sinceMs = clock.nowMs();
  }

  /** 0 to 1, over the last seconds, or since it was read before where that is longer ago. */
  get share(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#sinceMs >= SPAN_MS) {
      this.#last = this.#read(this.#since).utilization;
      this.#since = this.#read();
      this.#sinceMs = nowMs;
    }
    return this.#last;
  }
}
