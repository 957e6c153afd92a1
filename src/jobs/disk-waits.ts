/** Tells operators that batches wait for a disk that is full or fails. */
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { DiskListener } from './patience.ts';

/** Metrics count everything that waits; the log tells when the waiting begins and ends. */
export function reportDiskWaits({
  metrics,
  log,
}: {
  readonly metrics: Pick<Metrics, 'diskWaits' | 'diskRefusals'>;
  readonly log: Log;
}): DiskListener {
  let waiting = 0;
  const count = (change: number): void => {
    waiting += change;
    metrics.diskWaits.set(waiting);
  };
  return {
    onWait: (err) => {
      if (waiting === 0) log.warn({ err }, 'the disk is full or fails: batches wait for it');
      count(1);
    },
    onRefused: () => metrics.diskRefusals.inc(),
    onOver: () => {
      count(-1);
      if (waiting === 0) log.info('no batch waits for the disk any more');
    },
  };
}
