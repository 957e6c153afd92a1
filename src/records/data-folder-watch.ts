/** What runs out, gets old or is left in DATA_DIR: the room on its disk, the last copy, events that were refused. */
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '../foundation/clock.ts';
import { sizeOf } from '../foundation/folders/folder-size.ts';
import type { RecordMetrics } from '../foundation/metrics/record-metrics.ts';
import { REFUSED } from './refused-events.ts';
import { madeAt, wholeBackups } from './sqlite-backups.ts';

/** How often it is looked. */
const PERIOD_MS = 60_000;

interface WatchOptions {
  /** DATA_DIR. */
  readonly folder: string;
  /** Whether the records are in it, so that their copies are, too. */
  readonly hasRecords: boolean;
  readonly clock: Clock;
  readonly metrics: Pick<RecordMetrics, 'backupSeconds' | 'disk'>;
}

/** Looks at once and then every minute, until it is closed. */
export class DataFolderWatch {
  readonly #options: WatchOptions;
  readonly #beganSeconds: number;
  readonly #timer: Timer;
  #isLooking = false;

  constructor(options: WatchOptions) {
    const { clock } = options;
    this.#options = options;
    this.#beganSeconds = clock.wall().getTime() / 1000;
    this.#timer = clock.every(PERIOD_MS, () => void this.look(), true);
    void this.look();
  }

  /** Never rejects. A disk that does not answer is asked again when it has answered. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { folder, hasRecords, metrics } = this.#options;
    try {
      const { bavail, blocks, bsize } = await statfs(folder);
      metrics.disk.freeBytes.set(bavail * bsize);
      metrics.disk.totalBytes.set(blocks * bsize);
      metrics.disk.refusedBytes.set((await sizeOf(join(folder, REFUSED))).bytes);
      if (!hasRecords) return;
      const newest = (await wholeBackups(folder)).at(-1);
      metrics.backupSeconds.set(newest === undefined ? this.#beganSeconds : madeAt(newest).getTime() / 1000);
    } catch {
      // The figures of before stay; that the folder is gone is told by whoever writes to it.
    } finally {
      this.#isLooking = false;
    }
  }

  close(): void {
    this.#timer.cancel();
  }
}
