/** Who read, searched, exported, changed or deleted what. Lines are stored behind the requests that they are about. */
import type { Kysely, Selectable } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { isDatabaseTrouble } from '../../foundation/database/trouble.ts';
import type { Log } from '../../foundation/log/log.ts';
import { Notices } from '../../foundation/log/notices.ts';
import type { AuditTable, Tables } from '../tables.ts';

/** What somebody did to the records; signing in and out has actions of its own. */
export type AuditAction =
  | 'call.read'
  | 'call.changed'
  | 'call.noted'
  | 'call.deleted'
  | 'transcript.read'
  | 'events.read'
  | 'feed.read'
  | 'sound.played'
  | 'calls.searched'
  | 'calls.exported'
  | 'flow.read'
  | 'calls.expired'
  | 'audit.read';

/** One line of the log. */
export interface AuditNote {
  /** A user's name, the beginning of a key's hash, or `trunkline` for what the server does by itself. */
  readonly who: string;
  readonly role: string;
  readonly action: string;
  readonly callId: string | null;
  /** What it was about: never what was said, and no numbers of people. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A stored line, as the API shows it. */
export interface AuditEntry extends AuditNote {
  /** Counts the lines. */
  readonly position: number;
  /** ISO 8601. */
  readonly at: string;
}

/** Which lines; what is left out does not matter. */
export interface AuditFilter {
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly callId?: string | undefined;
  /** Only lines before that position. */
  readonly before?: number | undefined;
}

/** Readings that somebody repeats, as a page does that shows a call, are one line within this time. */
const SAME_READING_MS = 600_000;
const READINGS_REMEMBERED_MAX = 5000;
/** So often lines are stored. */
const FLUSH_MS = 200;
/** A further transaction takes the rest. */
const LINES_PER_WRITE = 200;
/** More lines than this do not wait for a disk that is stuck; they are counted, and told once. */
const LINES_WAITING_MAX = 10_000;
/** So long a failed write is left alone. */
const RETRY_MS = 5000;
/** What goes on is told this often. */
const NOTICE_PERIOD_MS = 60_000;
/** Lines that one statement deletes. */
const EXPIRED_PER_WRITE = 1000;

interface AuditLogOptions {
  readonly db: Kysely<Tables>;
  readonly reader: Kysely<Tables>;
  readonly clock: Clock;
  readonly log: Log;
  /** A line could not be kept. */
  onLost(): void;
}

type Line = Omit<Selectable<AuditTable>, 'position'>;

/** The audit log of one gateway. */
export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #waiting: Line[] = [];
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();
  readonly #notices: Notices;
  readonly #readings: LRUCache<string, true>;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#notices = new Notices(options.clock, NOTICE_PERIOD_MS);
    const perf = { now: () => options.clock.nowMs() };
    this.#readings = new LRUCache({ max: READINGS_REMEMBERED_MAX, ttl: SAME_READING_MS, perf });
  }

  /** Writes a line down. Never throws, and costs no more than a push. */
  note({ who, role, action, callId, detail }: AuditNote): void {
    const { clock, log, onLost } = this.#options;
    if (this.#isRepeated(who, action, callId)) return;
    if (this.#waiting.length >= LINES_WAITING_MAX) {
      onLost();
      if (this.#notices.isDue('lost')) log.error({}, 'the audit log cannot be stored, and lines of it are lost');
      return;
    }
    const at_ms = clock.wall().getTime();
    this.#waiting.push({ at_ms, who, role, action, call_id: callId, detail: JSON.stringify(detail) });
    this.#timer ??= clock.after(FLUSH_MS, () => void this.flush(), true);
  }

  /** Whether that reading was noted within the last ten minutes, so that it adds no line if it is repeated. */
  hasNoted(who: string, action: AuditAction, callId: string | null): boolean {
    return this.#readings.has(readingOf(who, action, callId));
  }

  /** Resolves when all lines so far are stored, or storing them has failed. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Lines, the latest first. */
  async list({ who, action, callId, before }: AuditFilter, limit: number): Promise<AuditEntry[]> {
    let query = this.#options.reader.selectFrom('audit').selectAll();
    if (who !== undefined) query = query.where('who', '=', who);
    if (action !== undefined) query = query.where('action', '=', action);
    if (callId !== undefined) query = query.where('call_id', '=', callId);
    if (before !== undefined) query = query.where('position', '<', before);
    const rows = await query.orderBy('position', 'desc').limit(limit).execute();
    return rows.map(toEntry);
  }

  /** Deletes lines from before `beforeMs`, some at a time. Resolves with whether there may be more. */
  async expire(beforeMs: number): Promise<boolean> {
    const { db } = this.#options;
    const old = db
      .selectFrom('audit')
      .select('position')
      .where('at_ms', '<', beforeMs)
      .orderBy('at_ms')
      .limit(EXPIRED_PER_WRITE);
    const { numDeletedRows } = await db.deleteFrom('audit').where('position', 'in', old).executeTakeFirst();
    return Number(numDeletedRows) === EXPIRED_PER_WRITE;
  }

  #isRepeated(who: string, action: string, callId: string | null): boolean {
    if (!action.endsWith('.read') && !action.endsWith('.played')) return false;
    const reading = readingOf(who, action, callId);
    if (this.#readings.has(reading)) return true;
    this.#readings.set(reading, true);
    return false;
  }

  /** A line that the database refuses alone does not hold up the rest for ever. */
  async #write(): Promise<void> {
    const { db, clock, log } = this.#options;
    let atOnce = LINES_PER_WRITE;
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.slice(0, atOnce);
      try {
        await db.insertInto('audit').values(lines).execute();
        this.#waiting.splice(0, lines.length);
      } catch (err) {
        if (isDatabaseTrouble(err)) {
          if (this.#notices.isDue('waits'))
            log.warn({ err, lines: this.#waiting.length }, 'the audit log could not be stored; it is tried again');
          this.#timer ??= clock.after(RETRY_MS, () => void this.flush(), true);
          return;
        }
        if (lines.length === 1) this.#leaveOut(err);
        atOnce = 1;
      }
    }
  }

  #leaveOut(err: unknown): void {
    const { log, onLost } = this.#options;
    const line = this.#waiting.shift();
    onLost();
    log.error({ err, action: line?.action }, 'the database refuses a line of the audit log, which is lost');
  }
}

function readingOf(who: string, action: string, callId: string | null): string {
  return JSON.stringify([who, action, callId]);
}

function toEntry({ position, at_ms, who, role, action, call_id, detail }: Selectable<AuditTable>): AuditEntry {
  return {
    position,
    at: new Date(at_ms).toISOString(),
    who,
    role,
    action,
    callId: call_id,
    detail: JSON.parse(detail) as AuditEntry['detail'],
  };
}
