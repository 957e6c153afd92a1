/**
 * How far the machine's clock is believed where no records do (decision 62): results of batches that
 * a clock removes which is ahead are gone. The folder of the batches has the last time that was believed.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { PRIVATE_FILE_MODE } from '../foundation/folders/folders.ts';
import type { Log } from '../foundation/log/log.ts';
import { Notices } from '../foundation/log/notices.ts';

/** In the folder of the batches; ms since 1970. */
export const BELIEVED_FILE = 'clock-believed';
/** As retention has it. */
const JUMP_MS = 86_400_000;
const TOLD_EVERY_MS = 3_600_000;

interface BelievedClockOptions {
  /** BATCH_DIR. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The clock of one folder. */
export class BelievedClock {
  readonly #options: BelievedClockOptions;
  readonly #notices: Notices;
  readonly #path: string;
  /** Ms since 1970; null = it was not looked at. */
  #seenMs: number | null = null;

  constructor(options: BelievedClockOptions) {
    this.#options = options;
    this.#notices = new Notices(options.clock, TOLD_EVERY_MS);
    this.#path = join(options.folder, BELIEVED_FILE);
  }

  /**
   * Whether results may be removed by the clock now. `latestMs` = when anything last happened to a batch, in ms since
   * 1970, null = there is none: all that is known of time in a folder from before. Never rejects.
   */
  async mayExpire(latestMs: number | null): Promise<boolean> {
    const nowMs = this.#options.clock.wall().getTime();
    const stored = await this.#read();
    // A file that is gone, after we had written it, is how somebody says that the clock is right.
    this.#seenMs = stored ?? (this.#seenMs === null ? (latestMs ?? nowMs) : nowMs);
    const isBelieved = Math.abs(nowMs - this.#seenMs) < JUMP_MS;
    if (isBelieved) this.#seenMs = nowMs;
    // Without room for it the next look has what this one had.
    await writeFile(this.#path, String(this.#seenMs), { mode: PRIVATE_FILE_MODE }).catch(() => undefined);
    if (!isBelieved) this.#tell(nowMs, this.#seenMs);
    return isBelieved;
  }

  async #read(): Promise<number | null> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    return /^\d{1,16}$/.test(text) ? Number(text) : null;
  }

  #tell(nowMs: number, seenMs: number): void {
    if (!this.#notices.isDue('held')) return;
    const [now, seen] = [nowMs, seenMs].map((ms) => new Date(ms).toISOString());
    this.#options.log.error(
      { now, seen },
      'results of batches are not removed: the clock is more than a day from the last time that was seen, as after a ' +
        `long stop or with a wrong clock. If it is right, remove the file ${BELIEVED_FILE} in BATCH_DIR`,
    );
  }
}
