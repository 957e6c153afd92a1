/** What is kept of calls: one object with all that works on the records. */
import { join } from 'node:path';
import type { CallView } from '../calls/call-view.ts';
import type { Feed } from '../calls/feed/feed.ts';
import type { Clock } from '../foundation/clock.ts';
import { explainTrouble, isDatabaseTrouble } from '../foundation/database/trouble.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { AuditLog } from './audit/audit-log.ts';
import { BackupCopies } from './backup-copies.ts';
import { RecentCount } from './database-report.ts';
import { FlowAnalytics } from './flows/flow-analytics.ts';
import { LiveCalls } from './live-calls.ts';
import type { OpenRedaction } from './record-redaction.ts';
import { type DueWebhooks, RecordWriter } from './record-writer.ts';
import { type CallSource, Recorder } from './recorder.ts';
import type { RecordsDatabase } from './records-database.ts';
import { endLostCalls } from './recovery.ts';
import { RefusedEvents } from './refused-events.ts';
import { RetentionClock } from './retention/retention-clock.ts';
import { CallLists } from './search/call-lists.ts';
import { DeletedElsewhere } from './sound/deleted-elsewhere.ts';
import { openSound, type SoundSettings } from './sound/open-sound.ts';
import type { SoundStore } from './sound/sound-store.ts';
import { StoredCalls } from './stored-calls.ts';
import { MessageTargets } from './webhooks/message-targets.ts';
import type { Outbox } from './webhooks/outbox.ts';

/** How long the end of the gateway waits for the last sound. */
const LAST_FILES_MS = 10_000;

interface RecordsOptions {
  readonly database: RecordsDatabase;
  /** DATA_DIR, owned by this process; null = there is none, and the records are in PostgreSQL. */
  readonly folder: string | null;
  /** 0 = for ever. */
  readonly retentionDays: number;
  /** Other gateways write to the database too. Nothing is written before {@link Records.share}. */
  readonly isShared: boolean;
  readonly redaction: OpenRedaction;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The records of one gateway. */
export class Records {
  readonly database: RecordsDatabase;
  readonly recorder: Recorder;
  /** Also the archive of the feed. */
  readonly calls: StoredCalls;
  readonly lists: CallLists;
  readonly audit: AuditLog;
  /** How calls went through flows. */
  readonly flows: FlowAnalytics;
  readonly folder: string | null;
  readonly retentionDays: number;
  /** Where messages of callers are told. */
  readonly messageTargets = new MessageTargets();
  /** How many calls there are. */
  readonly counted: RecentCount;
  /** Copies of the SQLite database; null = it is elsewhere. */
  readonly copies: BackupCopies | null;
  /** The time by which records are deleted. */
  readonly time: RetentionClock;
  /** Events that the database refused; null = there is no folder for them. */
  readonly refused: RefusedEvents | null;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #writer: RecordWriter;
  #sound: SoundStore | null = null;
  #outbox: Outbox | null = null;
  #webhooks: DueWebhooks | null = null;
  readonly #isShared: boolean;
  #mayWrite: () => boolean;
  #live: LiveCalls | null = null;
  #deletedElsewhere: DeletedElsewhere | null = null;

  constructor({ database, folder, retentionDays, isShared, redaction, clock, log, metrics }: RecordsOptions) {
    this.database = database;
    this.folder = folder;
    this.retentionDays = retentionDays;
    this.#clock = clock;
    this.#log = log;
    this.#metrics = metrics;
    this.time = new RetentionClock(database, clock);
    this.#isShared = isShared;
    this.#mayWrite = () => !isShared;
    this.refused = folder === null ? null : new RefusedEvents(folder);
    this.#writer = new RecordWriter({ database, mayWrite: () => this.#mayWrite(), webhooks: () => this.#webhooks });
    this.recorder = new Recorder({
      writer: this.#writer,
      refused: this.refused,
      clock,
      log,
      metrics: metrics.records,
      redaction,
      targetOf: (event) => this.messageTargets.take(event),
    });
    this.calls = new StoredCalls(database, () => this.recorder.settled());
    this.counted = new RecentCount(database, clock);
    this.lists = new CallLists({ database, clock, calls: this.calls, live: () => this.#live });
    this.flows = new FlowAnalytics({ database, clock });
    const onLost = (): void => metrics.records.auditLost.inc();
    this.audit = new AuditLog({ db: database.db, reader: database.reader, clock, log, onLost });
    const { sqliteFolder, audit } = this;
    this.copies =
      sqliteFolder === null ? null : new BackupCopies({ database, folder: sqliteFolder, audit, clock, log });
  }

  /** The sound of calls; null = there is no folder for it. */
  get sound(): SoundStore | null {
    return this.#sound;
  }

  /** The DATA_DIR that the database lies in; null = it lies elsewhere. */
  get sqliteFolder(): string | null {
    return this.database.kind === 'sqlite' ? this.folder : null;
  }

  /** To be called once. @throws ConfigError when sound is to be recorded and cannot be kept */
  async openSound(settings: SoundSettings): Promise<void> {
    const { folder, database, recorder } = this;
    const parts = { clock: this.#clock, log: this.#log, metrics: this.#metrics, database, recorder };
    this.#sound = await openSound(settings, folder, parts);
  }

  /** Has events of `types` delivered by `outbox` from now on. */
  openOutbox(outbox: Outbox, types: ReadonlySet<string>): void {
    this.#outbox = outbox;
    this.#webhooks = { types, onNew: () => outbox.wake() };
    outbox.open();
  }

  /**
   * Several gateways share the database. This one may write while `mayWrite` says that the others know that it lives.
   * They list its `calls`.
   */
  share(
    mayWrite: () => boolean,
    feed: Pick<Feed, 'epoch' | 'subscribeForeign'>,
    calls: () => readonly CallView[],
  ): void {
    this.#mayWrite = mayWrite;
    this.#live = new LiveCalls({ database: this.database, gateway: feed.epoch, calls, clock: this.#clock });
    if (this.#sound === null || this.folder === null) return;
    const parts = { clock: this.#clock, log: this.#log };
    const deleted = new DeletedElsewhere({ ...parts, folder: join(this.folder, 'sound'), sound: this.#sound });
    this.#deletedElsewhere = deleted;
    feed.subscribeForeign(({ type, callId }) => {
      if (type === 'call.deleted') deleted.note(callId);
    });
  }

  /**
   * Stores what the database refused once, as far as it takes it now.
   * @throws the error of the database while it is away; that of the file system
   */
  async retryRefused(): Promise<{ readonly stored: number; readonly left: number }> {
    return (await this.refused?.retry(this.#writer)) ?? { stored: 0, left: 0 };
  }

  /** Stores what `feed` tells from now on. */
  follow(feed: Feed, source: CallSource): void {
    this.recorder.follow(feed, source);
  }

  /**
   * Ends the calls of gateways that died; to be called before calls come in. Where the records are not open yet, that
   * is done when they are; what a full disk prevents, by the next start.
   * @throws the error of the database when it refuses
   */
  async recover(feed: Feed): Promise<void> {
    await this.#sound?.recover();
    await this.#tellOfRefused();
    if (this.database.isOpen) await this.endLostCalls(feed);
    else void this.database.opened.then(() => this.endLostCalls(feed)).catch((err: unknown) => this.#tellOfLost(err));
  }

  /** Ends the calls of gateways that died. @throws the error of the database when it refuses */
  async endLostCalls(feed: Feed): Promise<void> {
    const { database, recorder } = this;
    try {
      await this.time.begin();
      const lost = await endLostCalls({ database, isShared: this.#isShared, recorder, feed, clock: this.#clock });
      if (lost > 0) this.#log.warn({ calls: lost }, 'calls of a server that died were ended: server_lost');
    } catch (error) {
      if (!isDatabaseTrouble(error)) throw error;
      this.#tellOfLost(error);
    }
  }

  async #tellOfRefused(): Promise<void> {
    const kept = await this.refused?.report().catch(() => null);
    if (kept === null || kept === undefined || kept.events === 0) return;
    const facts = { events: kept.events, calls: kept.calls.length };
    this.#log.warn(facts, 'DATA_DIR/refused keeps events that the database refused: see trunkline db refused');
  }

  #tellOfLost(error: unknown): void {
    const reason = explainTrouble(error as Error);
    this.#log.error({ reason }, 'calls of a server that died could not be ended');
  }

  /**
   * Stores what waits, for 10 s at most, and closes the database. Resolves when its threads have ended, which ones that
   * wait for a stuck disk never do.
   */
  async close(): Promise<void> {
    this.#live?.close();
    this.#deletedElsewhere?.close();
    const soundEnded = this.#sound?.close() ?? Promise.resolve();
    const copiesEnded = this.copies?.close() ?? Promise.resolve();
    await Promise.all([
      settlesWithin(this.#clock, Promise.all([soundEnded, copiesEnded]), LAST_FILES_MS),
      this.recorder.close(),
    ]);
    // What nobody answers any more is given up first: webhooks may wait for it.
    const abandoned = this.recorder.backlog > 0 ? this.database.abandon() : null;
    await this.#outbox?.close();
    if (abandoned === null) {
      await this.audit.flush();
      await this.database.close();
    }
    await Promise.all([soundEnded, copiesEnded, abandoned]);
  }
}
