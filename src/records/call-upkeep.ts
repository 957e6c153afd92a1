/** What deletes: for people, by age, and for space. It needs parts of the gateway that are built after the records. */
import type { Feed } from '../calls/feed/feed.ts';
import type { Clock, Timer } from '../foundation/clock.ts';
import type { Lead, Leadership } from '../foundation/leadership.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { CallRemoval, type SentenceCache } from './deletion/call-removal.ts';
import { judgeDisk, readDiskFacts } from './disk-forecast.ts';
import type { Records } from './records.ts';
import { RetentionSweeper, type SoundShelf } from './retention/retention-sweeper.ts';

/** So often the room on the disk is looked at. */
const DISK_PERIOD_MS = 600_000;

interface UpkeepOptions {
  readonly records: Records;
  readonly feed: Feed;
  readonly sentences: SentenceCache;
  /** Null = nothing is recorded. */
  readonly sound: SoundShelf | null;
  /** Of several gateways one deletes what is too old; left out = this one is alone. */
  readonly lead?: Lead | null;
  readonly settings: Pick<Settings, 'RETENTION_DAYS' | 'DATA_MAX_BYTES' | 'AUDIT_RETENTION_DAYS' | 'SWEEP_MAX_PERCENT'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The upkeep of one gateway's records. */
export class CallUpkeep {
  readonly records: Records;
  readonly removal: CallRemoval;
  readonly sweeper: RetentionSweeper;
  readonly #options: UpkeepOptions;
  readonly #leadership: Leadership | null;
  #diskTimer: Timer | null = null;
  #diskWarning: string | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    const { records, feed, sentences, sound } = options;
    this.records = records;
    const { database, lists, audit, recorder, copies, refused } = records;
    this.removal = new CallRemoval({ database, search: lists.texts, feed, sentences, sound, copies, refused });
    // The one that leads looks whether something is due when its time has come.
    this.#leadership = options.lead?.('upkeep', { onLead: () => undefined, onLost: () => undefined }) ?? null;
    this.sweeper = new RetentionSweeper({
      ...options,
      isLeading: () => this.#leadership?.isLeading !== false,
      database,
      copies,
      refused,
      audit,
      recorder,
      time: records.time,
      removal: this.removal,
      metrics: options.metrics.records,
    });
  }

  /** What whoever looks after the server should know; empty = nothing. */
  get warnings(): readonly string[] {
    return this.#diskWarning === null ? this.sweeper.warnings : [...this.sweeper.warnings, this.#diskWarning];
  }

  /** Begins to delete what is past its time. */
  start(): void {
    void this.#lookAtDisk();
    this.#diskTimer = this.#options.clock.every(DISK_PERIOD_MS, () => void this.#lookAtDisk(), true);
    this.sweeper.start();
  }

  /** To be called before the records are closed. */
  async close(): Promise<void> {
    this.#diskTimer?.cancel();
    await this.sweeper.close();
    await this.#leadership?.resign();
  }

  /** Never rejects: a disk or a database that does not answer is told elsewhere. */
  async #lookAtDisk(): Promise<void> {
    const { records, sound, settings, clock, log } = this.#options;
    if (records.folder === null || !records.database.isOpen) return;
    const at = { nowMs: clock.wall().getTime(), soundBytes: sound?.bytes ?? 0 };
    const facts = await readDiskFacts(records.database, records.folder, at).catch(() => null);
    if (facts === null) return;
    this.#options.metrics.records.disk.dailyBytes.set(facts.dailyBytes);
    const warning = judgeDisk(facts, settings);
    if (warning !== null && this.#diskWarning === null) log.warn(warning);
    this.#diskWarning = warning;
  }
}
