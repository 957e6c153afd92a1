/** SQLite records that could not be opened at the start: it is tried again until they are. */
import { Backoff } from '../foundation/backoff.ts';
import type { Clock, Timer } from '../foundation/clock.ts';
import type { SqliteStatement } from '../foundation/database/sqlite-messages.ts';
import { explainTrouble, isDatabaseTrouble } from '../foundation/database/trouble.ts';
import { DiskError } from '../foundation/folders/disk.ts';
import type { Log } from '../foundation/log/log.ts';
import { Notices } from '../foundation/log/notices.ts';
import type { RecordMetrics } from '../foundation/metrics/record-metrics.ts';
import type { RecordsDatabase } from './records-database.ts';
import { recordsOn, type SqliteRecords, type SqliteRunner } from './sqlite-records.ts';

const RETRIES = { firstMs: 1000, longestMs: 60_000 };
const NOTICE_PERIOD_MS = 60_000;

interface LateOptions {
  /** The file. */
  readonly path: string;
  /** Opens it and brings its schema up to this program. */
  open(): Promise<SqliteRecords>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<RecordMetrics, 'openFailures'>;
}

/**
 * The records that are opened as soon as `open` succeeds. Until then they reject all with DiskError, as on a disk that
 * is full: what is told of calls waits in memory.
 */
export function openLater(options: LateOptions): RecordsDatabase {
  const runner = new LateRunner(options);
  runner.retry();
  return recordsOn(runner, options.path, runner);
}

class LateRunner implements SqliteRunner {
  readonly opened: Promise<void>;
  readonly #options: LateOptions;
  readonly #backoff = new Backoff(RETRIES);
  readonly #notices: Notices;
  #noteOpened: () => void = () => undefined;
  #records: SqliteRecords | null = null;
  #timer: Timer | null = null;
  #trying: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: LateOptions) {
    this.#options = options;
    this.#notices = new Notices(options.clock, NOTICE_PERIOD_MS);
    this.opened = new Promise((resolve) => {
      this.#noteOpened = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#records !== null;
  }

  /** Tries again after a while. */
  retry(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.after(
      this.#backoff.next(),
      () => {
        this.#trying = this.#try();
      },
      true,
    );
  }

  run(...how: Parameters<SqliteRunner['run']>): ReturnType<SqliteRunner['run']> {
    return this.#records?.thread.run(...how) ?? notOpen();
  }

  runAtomically(statements: readonly SqliteStatement[]): ReturnType<SqliteRunner['runAtomically']> {
    return this.#records?.thread.runAtomically(statements) ?? notOpen();
  }

  takeLocks(): Promise<void> {
    return this.#records?.thread.takeLocks() ?? notOpen();
  }

  async close(): Promise<void> {
    this.#end();
    await this.#trying;
    await this.#records?.close();
  }

  async abandon(): Promise<void> {
    this.#end();
    await this.#records?.abandon();
  }

  #end(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #try(): Promise<void> {
    const { open, log, metrics } = this.#options;
    try {
      const records = await open();
      if (this.#isClosed) return await records.close();
      this.#records = records;
      log.info({ place: records.place }, 'the records could be opened; what waits is stored');
      this.#noteOpened();
    } catch (error) {
      metrics.openFailures.inc();
      if (!isDatabaseTrouble(error) && this.#notices.isDue('refused'))
        log.error(
          { reason: explainTrouble(error as Error) },
          'the records cannot be opened: mend this; what is told of calls waits in memory, and it is tried again',
        );
      this.retry();
    }
  }
}

function notOpen(): Promise<never> {
  return Promise.reject(new DiskError('the records could not be opened yet'));
}
