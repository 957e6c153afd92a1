/**
 * The copies of the SQLite records in DATA_DIR/backups, for the server that uses the records: it makes them, takes
 * deleted calls out of them, and deletes them in time.
 */
import { constants } from 'node:fs';
import { copyFile, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../foundation/clock.ts';
import { explainTrouble } from '../foundation/database/trouble.ts';
import type { Log } from '../foundation/log/log.ts';
import type { AuditLog } from './audit/audit-log.ts';
import { deleteCallRows, emptyLog } from './deletion/call-rows.ts';
import { querySqlite } from './query/query-records.ts';
import type { QueryAnswer } from './query/query-terms.ts';
import type { RecordsDatabase } from './records-database.ts';
import {
  BACKUPS,
  hasBackupsBefore,
  madeAt,
  makeBackup,
  removeBackupsBefore,
  removeUnfinished,
  wholeBackups,
} from './sqlite-backups.ts';
import { openSqliteRecords } from './sqlite-records.ts';

/** Calls that leave the copies later than others are taken out of all of them at once, this often. */
const PERIOD_MS = 86_400_000;
/** After a failure it is tried again sooner. */
const RETRY_MS = 3_600_000;
/** Names in the table `meta` of calls that are to leave the copies; the value is when the call began. */
const MARK = 'deleted:';

/** A call that is to leave the copies; its id may have been used again since. */
interface MarkedCall {
  readonly id: string;
  /** Ms since 1970. */
  readonly startedMs: number;
}

interface CopiesOptions {
  readonly database: RecordsDatabase;
  /** DATA_DIR, with the database in it. */
  readonly folder: string;
  readonly audit: Pick<AuditLog, 'note'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The copies of one server. */
export class BackupCopies {
  readonly #options: CopiesOptions;
  /** No copy is made while calls are taken out: it might have them still, and be passed over. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** When calls that wait are taken out at the latest, on the clock; the first time at once. */
  #dueMs = 0;

  constructor(options: CopiesOptions) {
    this.#options = options;
  }

  /** Makes a copy; resolves with its path. @throws the system's error; DiskError when the disk is full */
  make(): Promise<string> {
    const { database, folder, clock } = this.#options;
    return this.#inTurn(() => makeBackup(database, { folder, why: 'request', now: clock.wall() }));
  }

  /** Asks a copy that is removed afterwards. @throws as {@link querySqlite} */
  query(text: string): Promise<QueryAnswer> {
    const { database, folder, clock } = this.#options;
    return this.#inTurn(() => querySqlite(database, { folder, text, now: clock.wall() }));
  }

  /** Deletes the copies that were made before `before`; resolves with their number. @throws the system's error */
  removeBefore(before: Date): Promise<number> {
    return removeBackupsBefore(this.#options.folder, before);
  }

  /** Whether {@link removeBefore} would delete one. */
  hasBefore(before: Date): Promise<boolean> {
    return hasBackupsBefore(this.#options.folder, before);
  }

  /** Notes in the database that a call is to leave the copies. To be called before its rows go. */
  async mark({ id, startedMs }: MarkedCall): Promise<void> {
    await this.#options.database.db
      .insertInto('meta')
      .values({ name: MARK + id, value: String(startedMs) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(startedMs) }))
      .execute();
  }

  /** {@link clean}, when it has not been done for a day. Never rejects. */
  async cleanDaily(): Promise<void> {
    if (this.#options.clock.nowMs() >= this.#dueMs) await this.clean();
  }

  /**
   * Takes all marked calls out of all copies. Each copy that has one is written anew beside itself and replaced, so
   * that whoever reads it meanwhile has the one or the other. Never rejects: what fails is told, and done later.
   */
  clean(): Promise<void> {
    return this.#inTurn(() => this.#clean()).catch((error: unknown) => this.#tellOfFailure(error));
  }

  /** Resolves when the copy that is worked on is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last.catch(() => undefined);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.catch(() => undefined).then(work);
    this.#last = done;
    return done;
  }

  async #clean(): Promise<void> {
    const { folder, clock } = this.#options;
    await removeUnfinished(folder);
    const calls = await this.#marked();
    let [cleaned, isDone] = [0, true];
    for (const name of calls.length === 0 ? [] : await wholeBackups(folder)) {
      if (this.#isClosed) return;
      const within = calls.filter(({ startedMs }) => startedMs <= madeAt(name).getTime());
      try {
        if (within.length > 0 && (await removeFromCopy(join(folder, BACKUPS, name), within))) cleaned++;
      } catch (error) {
        isDone = false;
        this.#tellOfFailure(error, name);
      }
    }
    if (isDone) await this.#unmark(calls);
    this.#dueMs = clock.nowMs() + (isDone ? PERIOD_MS : RETRY_MS);
    if (cleaned > 0) this.#tell({ copies: cleaned, calls: calls.length });
  }

  async #marked(): Promise<MarkedCall[]> {
    const rows = await this.#options.database.reader
      .selectFrom('meta')
      .selectAll()
      .where('name', 'like', `${MARK}%`)
      .execute();
    return rows.map(({ name, value }) => ({ id: name.slice(MARK.length), startedMs: Number(value) }));
  }

  async #unmark(calls: readonly MarkedCall[]): Promise<void> {
    const { db } = this.#options.database;
    for (const { id, startedMs } of calls)
      await db
        .deleteFrom('meta')
        .where('name', '=', MARK + id)
        .where('value', '=', String(startedMs))
        .execute();
  }

  #tell(detail: { readonly copies: number; readonly calls: number }): void {
    const { audit, log } = this.#options;
    audit.note({ who: 'trunkline', role: 'server', action: 'copies.cleaned', callId: null, detail });
    log.info(detail, 'deleted calls were taken out of the copies in DATA_DIR/backups');
  }

  #tellOfFailure(error: unknown, copy?: string): void {
    const { log, clock } = this.#options;
    this.#dueMs = clock.nowMs() + RETRY_MS;
    log.warn(
      { reason: explainTrouble(error as Error), copy },
      'deleted calls are still in copies in DATA_DIR/backups; it is tried again',
    );
  }
}

/** Resolves with whether one of `calls` was in the copy at `path`. @throws the error of the system or the database */
async function removeFromCopy(path: string, calls: readonly MarkedCall[]): Promise<boolean> {
  if ((await inDatabase(path, (copy) => seqsOf(copy, calls))).length === 0) return false;
  const draft = `${path}.part`;
  try {
    await copyFile(path, draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await inDatabase(draft, async (copy) => {
      for (const seq of await seqsOf(copy, calls)) await deleteCallRows(copy, seq);
      await emptyLog(copy);
    });
    const file = await open(draft, 'r+');
    await file.sync().finally(() => file.close());
    await rename(draft, path);
    return true;
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function inDatabase<T>(path: string, work: (database: RecordsDatabase) => Promise<T>): Promise<T> {
  const database = await openSqliteRecords(path);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function seqsOf({ reader }: RecordsDatabase, calls: readonly MarkedCall[]): Promise<number[]> {
  const seqs: number[] = [];
  for (const { id, startedMs } of calls) {
    const query = reader.selectFrom('calls').select('seq').where('id', '=', id).where('started_ms', '=', startedMs);
    const found = await query.executeTakeFirst();
    if (found !== undefined) seqs.push(found.seq);
  }
  return seqs;
}
