/**
 * Deletes what is past its time or more than DATA_MAX_BYTES: call by call, and never while events wait to be stored.
 */
import { pause } from '../../foundation/abortable-pause.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { RecordMetrics } from '../../foundation/metrics/record-metrics.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { BackupCopies } from '../backup-copies.ts';
import type { CallRemoval, RemovedCall, SoundRemover } from '../deletion/call-removal.ts';
import type { RecordsDatabase } from '../records-database.ts';
import { countCalls, findDueCalls, findOldestCalls } from './due-calls.ts';
import { mergeIndex, usedBytes } from './used-bytes.ts';

const DAY_MS = 86_400_000;
/** So often it is looked whether something is due. */
const PERIOD_MS = 60_000;
/** Calls that are looked up at once. */
const CALLS_AT_ONCE = 20;
/** It steps aside while more events wait to be stored than one transaction takes, and looks again after this time. */
const BACKLOG_MAX = 100;
const STEP_ASIDE_MS = 50;
/** Steps of one sweep that merge the full-text index. */
const MERGE_STEPS = 200;
/** With more than this share of DATA_MAX_BYTES in use, as much is deleted until there is less. */
const ROOM_SHARE = 0.98;

/** The recorded sound of calls, oldest first. */
export interface SoundShelf extends SoundRemover {
  /** Bytes of all sound, also of what is being recorded. */
  readonly bytes: number;
  /** The sound of the call that began first, of those that are over; null = there is none. */
  oldest(): Promise<{ readonly callId: string; readonly startedMs: number; readonly bytes: number } | null>;
}

interface SweeperOptions {
  readonly database: RecordsDatabase;
  /** Null = there are none, or they are not ours. */
  readonly copies: Pick<BackupCopies, 'removeBefore' | 'cleanDaily'> | null;
  readonly removal: CallRemoval;
  readonly audit: AuditLog;
  /** Null = nothing is recorded. */
  readonly sound: SoundShelf | null;
  /** Events that wait to be stored. */
  readonly recorder: { readonly backlog: number; readonly isTroubled: boolean };
  readonly settings: {
    readonly RETENTION_DAYS: number;
    readonly DATA_MAX_BYTES: number;
    readonly AUDIT_RETENTION_DAYS: number;
  };
  /**
   * Of several gateways that share the database, the one that deletes what is too old; each looks after its own disk.
   * Left out = this one does.
   */
  readonly isLeading?: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<RecordMetrics, 'expired' | 'dataBytes'>;
}

/** Why something was deleted: it was too old, or there was too much. */
type ExpiryReason = 'age' | 'space';

/** The sweeper of one gateway's records. */
export class RetentionSweeper {
  readonly #options: SweeperOptions;
  readonly #ended = new AbortController();
  #timer: Timer | null = null;
  #sweeping: Promise<void> | null = null;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Sweeps now and then. */
  start(): void {
    this.#timer = this.#options.clock.every(PERIOD_MS, () => void this.sweep(), true);
    void this.sweep();
  }

  /** Ends a sweep after the call that it is at, and begins no more. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.#timer?.cancel();
    await this.#sweeping;
  }

  /** Deletes all that is due. Never rejects; asked again meanwhile, it returns the same promise. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((err: unknown) => this.#options.log.warn({ err }, 'old records could not be deleted; it is tried again'))
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { recorder, database, isLeading = () => true } = this.#options;
    if (recorder.isTroubled || !database.isOpen) return;
    const aged = isLeading() ? await this.#expireOld() : NOTHING;
    const crowded = await this.#expireForSpace();
    if (aged.calls + crowded.calls > 0) await this.#options.removal.finish();
    this.#tell('age', aged);
    this.#tell('space', crowded);
    if (isLeading()) await this.#expireAudit();
    await this.#expireBackups();
    // Not waited for: copies may be many and large.
    void this.#options.copies?.cleanDaily();
  }

  async #expireOld(): Promise<Expired> {
    const { clock, database, settings } = this.#options;
    const expired = { calls: 0, sounds: 0, bytes: 0 };
    for (;;) {
      const nowMs = clock.wall().getTime();
      const endedBeforeMs = settings.RETENTION_DAYS === 0 ? null : nowMs - settings.RETENTION_DAYS * DAY_MS;
      const due = await findDueCalls(database.reader, { nowMs, endedBeforeMs, limit: CALLS_AT_ONCE });
      if (due.length === 0 || !(await this.#removeAll(due, 'age', expired))) return expired;
    }
  }

  /** The oldest sound goes first, then the oldest calls. */
  async #expireForSpace(): Promise<Expired> {
    const { database, settings, sound, metrics } = this.#options;
    const expired = { calls: 0, sounds: 0, bytes: 0 };
    if (settings.DATA_MAX_BYTES === 0) return expired;
    // What a database of its own holds is not in DATA_DIR.
    const rowBytes = async () => (database.kind === 'sqlite' ? usedBytes(database.reader) : 0);
    let rows = await rowBytes();
    const total = () => rows + (sound?.bytes ?? 0);
    metrics.dataBytes.set(total());
    if (total() <= settings.DATA_MAX_BYTES) return expired;
    const wanted = settings.DATA_MAX_BYTES * ROOM_SHARE;
    while (total() > wanted && (await this.#mayGoOn())) {
      const oldest = (await sound?.oldest()) ?? null;
      if (oldest === null) break;
      expired.bytes += (await sound?.remove(oldest)) ?? 0;
      expired.sounds++;
      metrics.expired.inc({ what: 'sound', reason: 'space' });
    }
    // Rows in a database of their own make no room here.
    if (total() > wanted && rows > 0) {
      await this.#expireCalls((total() - wanted) / rows, expired);
      rows = await rowBytes();
    }
    metrics.dataBytes.set(total());
    return expired;
  }

  /**
   * Deletes that share of all calls, the oldest. How much room that made shows only when the full-text index has been
   * merged, which goes on in the next sweeps; so no more is deleted in this one.
   */
  async #expireCalls(share: number, expired: Expired): Promise<void> {
    const { db, reader } = this.#options.database;
    let left = Math.ceil((await countCalls(reader)) * Math.min(share, 1));
    while (left > 0) {
      const oldest = await findOldestCalls(reader, Math.min(left, CALLS_AT_ONCE));
      if (oldest.length === 0 || !(await this.#removeAll(oldest, 'space', expired))) break;
      left -= oldest.length;
    }
    for (let step = 0; step < MERGE_STEPS && (await this.#mayGoOn()); step++)
      if (!(await mergeIndex(db, step === 0))) return;
  }

  /** False when it has to end. */
  async #removeAll(calls: readonly RemovedCall[], reason: ExpiryReason, expired: Expired): Promise<boolean> {
    const { removal, metrics } = this.#options;
    for (const call of calls) {
      if (!(await this.#mayGoOn())) return false;
      const { soundBytes } = await removal.remove(call);
      expired.calls++;
      expired.bytes += soundBytes;
      metrics.expired.inc({ what: 'call', reason });
    }
    return true;
  }

  /** Steps aside while events wait. False when the sweep has to end. */
  async #mayGoOn(): Promise<boolean> {
    const { recorder, clock } = this.#options;
    while (recorder.backlog > BACKLOG_MAX && !this.#ended.signal.aborted) {
      if (recorder.isTroubled) return false;
      await pause(clock, STEP_ASIDE_MS, this.#ended.signal);
    }
    return !this.#ended.signal.aborted;
  }

  async #expireAudit(): Promise<void> {
    const { audit, clock, settings } = this.#options;
    if (settings.AUDIT_RETENTION_DAYS === 0) return;
    const beforeMs = clock.wall().getTime() - settings.AUDIT_RETENTION_DAYS * DAY_MS;
    while ((await this.#mayGoOn()) && (await audit.expire(beforeMs)));
  }

  /** A copy has calls that were deleted since; when it is this old, all of them are past their time. */
  async #expireBackups(): Promise<void> {
    const { copies, clock, settings, log } = this.#options;
    if (copies === null || settings.RETENTION_DAYS === 0) return;
    const before = new Date(clock.wall().getTime() - settings.RETENTION_DAYS * DAY_MS);
    const removed = await copies.removeBefore(before);
    if (removed > 0)
      log.info({ copies: removed }, 'copies of the records in DATA_DIR/backups past RETENTION_DAYS were deleted');
  }

  #tell(reason: ExpiryReason, { calls, sounds, bytes }: Expired): void {
    if (calls + sounds === 0) return;
    const { audit, log } = this.#options;
    const detail = { reason, calls, sounds, soundBytes: bytes };
    audit.note({ who: 'trunkline', role: 'server', action: 'calls.expired', callId: null, detail });
    if (reason === 'age') log.info(detail, 'calls past their time were deleted');
    else log.warn(detail, 'the records had more than DATA_MAX_BYTES: the oldest sound and calls were deleted');
  }
}

const NOTHING: Readonly<Expired> = { calls: 0, sounds: 0, bytes: 0 };

interface Expired {
  calls: number;
  sounds: number;
  bytes: number;
}
