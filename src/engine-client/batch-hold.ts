/**
 * Holds batch jobs back while calls need the processor: two recognisers at the same time are slower than one, even on
 * separate cores, and the gateway needs a core as well.
 */
import type { Clock } from '../foundation/clock.ts';

/** Batch jobs go on after this time even while calls are live: people wait for them, too. */
const HOLD_MAX_MS = 150;

/** How long batch jobs then run at least: one or two runs of the recogniser. */
const TURN_MS = 20;

/** The part of an engine process that {@link BatchHold} needs. */
export interface Holdable {
  /** Whether it works on batch jobs. */
  readonly holdsBatch: boolean;
  /** Whether it works on anything but batch jobs and voice detection. */
  readonly holdsLive: boolean;
  hold(isHeld: boolean): void;
}

export class BatchHold {
  readonly #clock: Clock;
  readonly #cores: number;
  readonly #pools: (() => readonly Holdable[])[] = [];
  #heldSinceMs: number | null = null;
  #turnEndsMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, cores }: { clock: Clock; cores: number }) {
    this.#clock = clock;
    this.#cores = cores;
  }

  /** Counts the processes in `pool` as well: all of them share the cores. */
  watch(pool: () => readonly Holdable[]): void {
    this.#pools.push(pool);
  }

  /**
   * Lets as many processes go on with batch jobs as there are cores left by the gateway and live work, and all of them
   * while nothing is live. To be called whenever a process was given a job or answered one.
   */
  apply(): void {
    const processes = this.#pools.flatMap((pool) => pool());
    const live = processes.filter(({ holdsLive }) => holdsLive).length;
    const batch = processes.filter(({ holdsBatch }) => holdsBatch);
    const spare = live === 0 || this.#isTurn() ? batch.length : Math.max(this.#cores - 1 - live, 0);
    for (const [index, process] of batch.entries()) process.hold(index >= spare);
    if (spare >= batch.length) this.#heldSinceMs = null;
    else this.#heldSinceMs ??= this.#clock.nowMs();
  }

  /** Whether batch jobs may run now regardless of live work. */
  #isTurn(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#heldSinceMs !== null && nowMs - this.#heldSinceMs >= HOLD_MAX_MS) this.#turnEndsMs = nowMs + TURN_MS;
    return nowMs < this.#turnEndsMs;
  }
}
