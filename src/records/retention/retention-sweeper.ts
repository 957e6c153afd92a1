/**
 * Deletes what is past its time or more than DATA_MAX_BYTES: call by call, and never while events wait to be stored.
 * Where the clock may be wrong, or much would go at once, nothing is deleted until somebody says so.
 */
import { pause } from '../../foundation/abortable-pause.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { Notices } from '../../foundation/log/notices.ts';
import type { RecordMetrics } from '../../foundation/metrics/record-metrics.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { BackupCopies } from '../backup-copies.ts';
import type { CallRemoval, RemovedCall, SoundRemover } from '../deletion/call-removal.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { RefusedEvents } from '../refused-events.ts';
import { countCalls, findDueCalls, findOldestCalls } from './due-calls.ts';
import type { RetentionClock, StoredTimes } from './retention-clock.ts';
import { CLOCK_JUMP_MS, doubtAmount, doubtClock, doubtRoom, type Hold } from './sweep-check.ts';
import { endedBefore, planSweep, type SweepPlan } from './sweep-plan.ts';
import { mergeIndex, usedBytes } from './used-bytes.ts';

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
/** A clock that was set by more than this between two sweeps makes more due than time has. */
const SET_MS = 300_000;
/** Copies outlive what is deleted by a day: until then it can be had back. */
const COPIES_LATER_MS = 86_400_000;
/** Clocks that differ by more are told: calls would have other times than the database deletes by. */
const CLOCK_OFF_MAX_MS = 5000;
/** So often it is told that nothing is deleted, and that clocks differ. */
const TOLD_EVERY_MS = 3_600_000;

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
  readonly copies: Pick<BackupCopies, 'hasBefore' | 'removeBefore' | 'cleanDaily'> | null;
  /** Null = there is no folder for them. */
  readonly refused: Pick<RefusedEvents, 'removeBefore'> | null;
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
    readonly SWEEP_MAX_PERCENT: number;
  };
  readonly time: RetentionClock;
  /**
   * Of several gateways that share the database, the one that deletes what is too old; each looks after its own disk.
   * Left out = this one does.
   */
  readonly isLeading?: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<RecordMetrics, 'expired' | 'disk' | 'retention'>;
}

/** Why something was deleted: it was too old, or there was too much. */
type ExpiryReason = 'age' | 'space';

/** The sweeper of one gateway's records. */
export class RetentionSweeper {
  readonly #options: SweeperOptions;
  readonly #ended = new AbortController();
  #timer: Timer | null = null;
  readonly #notices: Notices;
  #sweeping: Promise<void> | null = null;
  #hold: Hold | null = null;
  #trustsClock = false;
  /** When the last sweep began that found the amount fine: by the clock that deletion goes by, and by steady time. */
  #steady: { readonly nowMs: number; readonly steadyMs: number } | null = null;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#notices = new Notices(options.clock, TOLD_EVERY_MS);
  }

  /** Why nothing is deleted; null = what is due is deleted. */
  get hold(): Hold | null {
    return this.#hold;
  }

  /** The clock fits what is stored. False until that is known. */
  get trustsClock(): boolean {
    return this.#trustsClock;
  }

  /** What whoever looks after the server should know; empty = nothing. */
  get warnings(): readonly string[] {
    const offMs = this.#clockOffMs();
    const clocks = offMs === null ? [] : [describeOff(offMs)];
    return this.#hold === null ? clocks : [...clocks, this.#hold.message];
  }

  /** What is due for its age. @throws the error of the database */
  async plan(): Promise<SweepPlan> {
    const { time, database, settings } = this.#options;
    return planSweep(database.reader, await time.readNowMs(), settings);
  }

  /** Somebody says that deletion goes on. Resolves when what is due is deleted. @throws the error of the database */
  async goOn(): Promise<void> {
    await this.#options.time.goOn();
    await this.#sweeping;
    await this.sweep(true);
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
  sweep(goesOn = false): Promise<void> {
    this.#sweeping ??= this.#sweep(goesOn)
      .catch((err: unknown) => this.#options.log.warn({ err }, 'old records could not be deleted; it is tried again'))
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweep(isAsked: boolean): Promise<void> {
    const { recorder, database, time, isLeading = () => true } = this.#options;
    if (recorder.isTroubled || !database.isOpen) return;
    const nowMs = await time.readNowMs();
    this.#tellClocks();
    const stored = await time.readStored();
    const goesOn = isAsked || (stored.goOnMs !== null && Math.abs(nowMs - stored.goOnMs) < CLOCK_JUMP_MS);
    const leads = isLeading();
    const hold = leads && !goesOn ? await this.#doubt(nowMs, stored) : null;
    this.#trustsClock = hold === null || hold.reason === 'too_much';
    const mayExpire = leads && hold === null;
    if (mayExpire) {
      await time.believe(nowMs);
      if (goesOn) await time.wentOn(stored.latestCallMs);
      // What a mistake deletes is still in the copies then.
      if (await this.#expireBackups(nowMs, stored.copiesDueMs)) return;
    }
    const aged = mayExpire ? await this.#expireOld(nowMs) : NOTHING;
    const { expired: crowded, hold: roomHold } = await this.#expireForSpace(goesOn);
    if (aged.calls + crowded.calls > 0) await this.#options.removal.finish();
    this.#tell('age', aged);
    this.#tell('space', crowded);
    if (mayExpire) await this.#expireAudit(nowMs);
    this.#tellHold(hold ?? roomHold);
    // Not waited for: copies may be many and large.
    void this.#options.copies?.cleanDaily();
  }

  async #doubt(nowMs: number, stored: StoredTimes): Promise<Hold | null> {
    const { database, settings, clock } = this.#options;
    const doubt = doubtClock(nowMs, stored);
    if (doubt !== null) return doubt;
    const steadyMs = clock.nowMs();
    const last = this.#steady;
    const isSteady = last !== null && Math.abs(nowMs - last.nowMs - (steadyMs - last.steadyMs)) <= SET_MS;
    if (!isSteady) {
      const tooMuch = doubtAmount(await planSweep(database.reader, nowMs, settings), settings.SWEEP_MAX_PERCENT);
      if (tooMuch !== null) return tooMuch;
    }
    this.#steady = { nowMs, steadyMs };
    return null;
  }

  async #expireOld(nowMs: number): Promise<Expired> {
    const { database, settings } = this.#options;
    const expired = { calls: 0, sounds: 0, bytes: 0 };
    const endedBeforeMs = endedBefore(nowMs, settings.RETENTION_DAYS);
    for (;;) {
      const due = await findDueCalls(database.reader, { nowMs, endedBeforeMs }, CALLS_AT_ONCE);
      if (due.length === 0 || !(await this.#removeAll(due, 'age', expired))) return expired;
    }
  }

  /** The oldest sound goes first, then the oldest calls. */
  async #expireForSpace(goesOn: boolean): Promise<{ readonly expired: Expired; readonly hold: Hold | null }> {
    const { database, settings, sound, metrics } = this.#options;
    const expired = { calls: 0, sounds: 0, bytes: 0 };
    if (settings.DATA_MAX_BYTES === 0) return { expired, hold: null };
    // What a database of its own holds is not in DATA_DIR.
    const rowBytes = async () => (database.kind === 'sqlite' ? usedBytes(database.reader) : 0);
    let rows = await rowBytes();
    const total = () => rows + (sound?.bytes ?? 0);
    metrics.disk.dataBytes.set(total());
    if (total() <= settings.DATA_MAX_BYTES) return { expired, hold: null };
    const wanted = settings.DATA_MAX_BYTES * ROOM_SHARE;
    const hold = goesOn ? null : doubtRoom({ due: total() - wanted, kept: total() }, settings.SWEEP_MAX_PERCENT);
    if (hold !== null) return { expired, hold };
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
    metrics.disk.dataBytes.set(total());
    return { expired, hold: null };
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

  async #expireAudit(nowMs: number): Promise<void> {
    const { audit, settings } = this.#options;
    const beforeMs = endedBefore(nowMs, settings.AUDIT_RETENTION_DAYS);
    if (beforeMs === null) return;
    while ((await this.#mayGoOn()) && (await audit.expire(beforeMs)));
  }

  /**
   * A copy has calls that were deleted since; when it is this old, all of them are past their time. It goes a day after
   * that was first seen, in a sweep that deletes no call. Resolves with whether one went.
   */
  async #expireBackups(nowMs: number, dueMs: number | null): Promise<boolean> {
    const { copies, refused, settings, time, log } = this.#options;
    const beforeMs = endedBefore(nowMs, settings.RETENTION_DAYS);
    if (beforeMs === null) return false;
    // Calls of which nothing could be stored have no row that could be due.
    await refused?.removeBefore(beforeMs);
    if (copies === null) return false;
    if (dueMs === null) {
      if (await copies.hasBefore(new Date(beforeMs))) await time.noteCopiesDue(nowMs);
      return false;
    }
    if (nowMs - dueMs < COPIES_LATER_MS) return false;
    await time.noteCopiesDue(null);
    const removed = await copies.removeBefore(new Date(beforeMs - (nowMs - dueMs)));
    if (removed > 0)
      log.info({ copies: removed }, 'copies of the records in DATA_DIR/backups past RETENTION_DAYS were deleted');
    return removed > 0;
  }

  /** Null = this machine's clock and the database's agree, or there is one only. */
  #clockOffMs(): number | null {
    const { offMs } = this.#options.time;
    return offMs !== null && Math.abs(offMs) > CLOCK_OFF_MAX_MS ? offMs : null;
  }

  #tellClocks(): void {
    const { time, log, metrics } = this.#options;
    metrics.retention.clockOffSeconds.set((time.offMs ?? 0) / 1000);
    const offMs = this.#clockOffMs();
    if (offMs !== null && this.#notices.isDue('clocks')) log.warn({ offMs }, describeOff(offMs));
  }

  #tellHold(hold: Hold | null): void {
    const { log, metrics } = this.#options;
    const before = this.#hold;
    this.#hold = hold;
    for (const reason of ['clock_ahead', 'clock_behind', 'too_much'] as const)
      metrics.retention.held.set({ reason }, hold?.reason === reason ? 1 : 0);
    if (hold !== null && (hold.reason !== before?.reason || this.#notices.isDue(hold.reason))) {
      this.#notices.isDue(hold.reason);
      log.error({ reason: hold.reason }, hold.message);
    }
    if (hold === null && before !== null) log.info('records past their time are deleted again');
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

function describeOff(offMs: number): string {
  const seconds = Math.abs(offMs / 1000).toFixed(1);
  const way = offMs > 0 ? 'ahead of' : 'behind';
  return `the clock of this machine is ${seconds} s ${way} that of the database: have both set by NTP`;
}

const NOTHING: Readonly<Expired> = { calls: 0, sounds: 0, bytes: 0 };

interface Expired {
  calls: number;
  sounds: number;
  bytes: number;
}
