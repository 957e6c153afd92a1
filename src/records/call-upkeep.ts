/** What deletes: for people, by age, and for space. It needs parts of the gateway that are built after the records. */
import type { Feed } from '../calls/feed/feed.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Lead, Leadership } from '../foundation/leadership.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { CallRemoval, type SentenceCache } from './deletion/call-removal.ts';
import type { Records } from './records.ts';
import { RetentionSweeper, type SoundShelf } from './retention/retention-sweeper.ts';

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
  readonly #leadership: Leadership | null;

  constructor(options: UpkeepOptions) {
    const { records, feed, sentences, sound } = options;
    this.records = records;
    const { database, lists, audit, recorder, copies } = records;
    this.removal = new CallRemoval({ database, search: lists.texts, feed, sentences, sound, copies });
    // The one that leads looks whether something is due when its time has come.
    this.#leadership = options.lead?.('upkeep', { onLead: () => undefined, onLost: () => undefined }) ?? null;
    this.sweeper = new RetentionSweeper({
      ...options,
      isLeading: () => this.#leadership?.isLeading !== false,
      database,
      copies,
      audit,
      recorder,
      time: records.time,
      removal: this.removal,
      metrics: options.metrics.records,
    });
  }

  /** Begins to delete what is past its time. */
  start(): void {
    this.sweeper.start();
  }

  /** To be called before the records are closed. */
  async close(): Promise<void> {
    await this.sweeper.close();
    await this.#leadership?.resign();
  }
}
