/**
 * Retries work while the disk is full or fails, until somebody has made room. Until then the work is kept, not given
 * up.
 */
import { Backoff } from '../foundation/backoff.ts';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { isDiskTrouble, toDiskFull } from '../foundation/folders/disk.ts';

const RETRIES = { firstMs: 1000, longestMs: 60_000 };
/** Long enough that a disk which fills up in the evening can be cleared in the morning. */
const WAIT_MAX_MS = 12 * 3_600_000;

/** Is told when something waits for the disk. */
export interface DiskListener {
  /** Something begins to wait because the disk failed with `error`. */
  readonly onWait: (error: Error) => void;
  /** An attempt failed because of the disk, the first one or a later one. */
  readonly onRefused: () => void;
  /** The wait is over: the work succeeded or was given up. */
  readonly onOver: () => void;
}

/** The wait of one piece of work: how long until the next attempt, and when to give up. */
export class DiskWait {
  readonly #clock: Clock;
  readonly #listener: DiskListener;
  #sinceMs: number | null = null;
  readonly #backoff = new Backoff(RETRIES);

  constructor(clock: Clock, listener: DiskListener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /**
   * Notes that an attempt failed with `error`. Returns the delay in ms before the next one.
   * @throws TrunklineError `disk_full` after 12 hours of failures
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
    return this.#backoff.next();
  }

  /** To be called when the work succeeded or is no longer wanted. Idempotent. */
  end(): void {
    if (this.#sinceMs === null) return;
    this.#sinceMs = null;
    this.#backoff.restart();
    this.#listener.onOver();
  }
}

interface RetryOptions {
  readonly clock: Clock;
  readonly listener: DiskListener;
  readonly signal: AbortSignal;
}

/**
 * Repeats `work` for as long as it fails because of the disk. Its result and its other errors are passed on.
 * @throws TrunklineError `disk_full` when the disk has refused for too long; the reason of `signal`
 */
export async function retryOnDiskTrouble<T>(
  work: () => Promise<T>,
  { clock, listener, signal }: RetryOptions,
): Promise<T> {
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
