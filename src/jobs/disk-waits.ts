/** Reports to operators when batches wait for a disk that is full or fails. */
import { describeDisk } from '../foundation/folders/disk.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { DiskListener } from './disk-retry.ts';

/** Metrics count all waits; the log says when the first begins and the last ends. */
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
    onWait: (error) => {
      if (waiting === 0) log.warn({ reason: describeDisk(error) }, 'the disk is full or fails: batches wait for it');
      count(1);
    },
    onRefused: () => metrics.diskRefusals.inc(),
    onOver: () => {
      count(-1);
      if (waiting === 0) log.info('no batch waits for the disk any more');
    },
  };
}
