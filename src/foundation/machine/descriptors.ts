/** Watches the file descriptors: every call, connection and open file takes one, and their number is limited. */
import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log/log.ts';

const LOOK_EVERY_MS = 30_000;
/** Shares of the limit: a warning comes above the first, and again only after the share was below the second. */
const SHORT_SHARE = 0.8;
const ENOUGH_SHARE = 0.7;

/** How many descriptors the process has open, and how many it may have. */
export interface Descriptors {
  readonly open: number;
  readonly max: number;
}

/**
 * Logs a warning when descriptors run short, until cancelled. `read` resolves with null when they cannot be counted.
 */
export function watchDescriptors(options: { read: () => Promise<Descriptors | null>; clock: Clock; log: Log }): Timer {
  const { read, clock, log } = options;
  let isShort = false;
  const look = async () => {
    const found = await read();
    if (found === null) return;
    const share = found.open / found.max;
    if (share > SHORT_SHARE && !isShort) {
      log.warn(
        { ...found },
        'file descriptors run short: with none left, calls are refused; raise the limit (ulimit -n, LimitNOFILE)',
      );
    }
    isShort = share > (isShort ? ENOUGH_SHARE : SHORT_SHARE);
  };
  return clock.every(LOOK_EVERY_MS, () => void look(), true);
}
