/** How long batches have waited for one of their recordings to come to its end: what shows one that is stuck. */
import type { Clock } from '../foundation/clock.ts';

/** A batch that has not ended. */
export interface RunningBatch {
  readonly id: string;
  /** Ms since 1970. */
  readonly createdMs: number;
  /** Its recordings that have not come to their end. */
  readonly waiting: number;
}

interface Known {
  readonly waiting: number;
  /** When one of them last did, or the batch began, by the clock's `nowMs`. */
  readonly sinceMs: number;
}

/** Follows all batches that a gateway knows. */
export class BatchWaits {
  readonly #clock: Clock;
  #known: ReadonlyMap<string, Known> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of how far all batches are that have not ended. One that was not known has waited since it was made. */
  follow(running: readonly RunningBatch[]): void {
    const nowMs = this.#clock.nowMs();
    const sinceMade = (createdMs: number): number => nowMs - Math.max(this.#clock.wall().getTime() - createdMs, 0);
    this.#known = new Map(
      running.map(({ id, createdMs, waiting }) => {
        const known = this.#known.get(id);
        if (known?.waiting === waiting) return [id, known];
        return [id, { waiting, sinceMs: known === undefined ? sinceMade(createdMs) : nowMs }];
      }),
    );
  }

  /** The wait of the batch that has waited longest, in ms; 0 = there is none. */
  get longestMs(): number {
    return Math.max(0, ...[...this.#known.values()].map(({ sinceMs }) => this.#clock.nowMs() - sinceMs));
  }
}
