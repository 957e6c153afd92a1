/**
 * Waits while the disk is full or fails, so that no work is lost until an operator has freed space.
 */
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { isDiskTrouble, toDiskFull } from '../foundation/folders/disk.ts';

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 60_000;
/** A night: nobody may free space before the morning. */
const WAIT_MAX_MS = 12 * 3_600_000;

/** Is told about work that waits for the disk. */
export interface DiskListener {
  /** Work begins to wait because of `error`. */
  readonly onWait: (error: Error) => void;
  /** The disk has refused, for the first time or again. */
  readonly onRefused: () => void;
  /** The work continues or is given up. */
  readonly onOver: () => void;
}

/** One wait for the disk: when to try again, and when to give up. */
export class DiskWait {
  readonly #clock: Clock;
  readonly #listener: DiskListener;
  #sinceMs: number | null = null;
  #delayMs = FIRST_DELAY_MS;

  constructor(clock: Clock, listener: DiskListener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /**
   * Notes that the disk failed with `error`. Returns the ms until the next attempt. @throws TrunklineError `disk_full`
   * when the disk has failed for too long
   */
  refuse(error: Error): number {
    const nowMs = this.#clock.nowMs();
    if (this.#sinceMs === null) this.#listener.onWait(error);
    this.#sinceMs ??= nowMs;
    this.#listener.onRefused();
    if (nowMs - this.#sinceMs >= WAIT_MAX_MS) {
      throw new TrunklineError(
        'disk_full',
        `${toDiskFull(error).message}: given up after ${WAIT_MAX_MS / 3_600_000} hours`,
      );
    }
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
    return delayMs;
  }

  /** The work continues or is not wanted any more. Idempotent. */
  end(): void {
    if (this.#sinceMs === null) return;
    this.#sinceMs = null;
    this.#delayMs = FIRST_DELAY_MS;
    this.#listener.onOver();
  }
}

interface PatienceOptions {
  readonly clock: Clock;
  readonly listener: DiskListener;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/**
 * Repeats `work` until the disk does not refuse it. Resolves and rejects as `work` does otherwise. `work` must be safe
 * to repeat.
 * @throws TrunklineError `disk_full` when the disk has refused for too long; the reason of `signal`
 */
export async function insist<T>(work: () => Promise<T>, { clock, listener, signal }: PatienceOptions): Promise<T> {
  const wait = new DiskWait(clock, listener);
  try {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        if (!isDiskTrouble(error)) throw error;
        await pause(wait.refuse(error), clock, signal);
      }
    }
  } finally {
    wait.end();
  }
}

function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
