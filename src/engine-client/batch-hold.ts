/**
 * Holds recordings back where callers need the processor: two recognisers beside each other are slower than one, on
 * cores of their own too, and the gateway wants a core besides.
 */
import type { Clock } from '../foundation/clock.ts';

/** Recordings go on after so long, whoever talks: somebody waits for them, too… */
const HOLD_MAX_MS = 150;

/** …for so long at least: a run of the recogniser or two. */
const TURN_MS = 20;

/** An engine process as far as it matters here. */
export interface Holdable {
  /** Whether it is at work on something that may wait. */
  readonly holdsBatch: boolean;
  /** Whether it is at work on speech that somebody waits for. */
  readonly holdsLive: boolean;
  hold(isHeld: boolean): void;
}

export class BatchHold {
  readonly #clock: Clock;
  readonly #cores: number;
  #heldSinceMs: number | null = null;
  #turnEndsMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, cores }: { clock: Clock; cores: number }) {
    this.#clock = clock;
    this.#cores = cores;
  }

  /**
   * Lets as many of `processes` go on with batch jobs as there are cores beside the gateway's and those of live work,
   * and all of them while nothing is live. To be called whenever a process got a job or answered one.
   */
  apply(processes: readonly Holdable[]): void {
    const live = processes.filter(({ holdsLive }) => holdsLive).length;
    const batch = processes.filter(({ holdsBatch }) => holdsBatch);
    const spare = live === 0 || this.#isTurn() ? batch.length : Math.max(this.#cores - 1 - live, 0);
    for (const [index, process] of batch.entries()) process.hold(index >= spare);
    if (spare >= batch.length) this.#heldSinceMs = null;
    else this.#heldSinceMs ??= this.#clock.nowMs();
  }

  /** Whether it is the recordings' turn, live work or not. */
  #isTurn(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#heldSinceMs !== null && nowMs - this.#heldSinceMs >= HOLD_MAX_MS) this.#turnEndsMs = nowMs + TURN_MS;
    return nowMs < this.#turnEndsMs;
  }
}
