/** Ends the calls of gateways that died: their rows still say that they are live. */
import { type Selectable, sql } from 'kysely';
import type { Feed } from '../calls/feed/feed.ts';
import type { Clock } from '../foundation/clock.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { CallTally } from './call-tally.ts';
import { aliveName } from './record-writer.ts';
import type { Recorder } from './recorder.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { CallsTable } from './tables.ts';

/** More calls than a gateway has are ended in slices. */
const CALLS_AT_ONCE = 200;

/** A disk that does not answer must not keep calls out. */
const STORED_WITHIN_MS = 10_000;

interface RecoveryOptions {
  readonly database: RecordsDatabase;
  readonly recorder: Recorder;
  readonly feed: Pick<Feed, 'publish' | 'epoch'>;
  readonly clock: Clock;
}

/**
 * Publishes `call.ended` (`server_lost`) for every stored call that another gateway than this one left behind. It ended
 * when that gateway was last known to live: by the call's last event, or by a sign of life. Resolves with their number
 * when they are stored, or when the disk has not stored them for 10 s.
 * @throws the error of the database
 */
export async function endLostCalls(options: RecoveryOptions): Promise<number> {
  const { database, recorder, feed, clock } = options;
  const { db } = database;
  let ended = 0;
  for (;;) {
    const rows = await db
      .selectFrom('calls')
      .selectAll()
      // As it is written here: a bound value would not be seen to fit the index of calls that are not over.
      .where(sql<boolean>`state <> 'ended'`)
      .where('state', 'in', ['dialing', 'live'])
      .where('gateway', '<>', feed.epoch)
      .limit(CALLS_AT_ONCE)
      .execute();
    if (rows.length === 0) break;
    await endThese(rows, options);
    ended += rows.length;
    if (!(await settlesWithin(clock, recorder.settled(), STORED_WITHIN_MS))) return ended;
  }
  await db.deleteFrom('meta').where('name', 'like', 'alive:%').where('name', '<>', aliveName(feed.epoch)).execute();
  return ended;
}

async function endThese(
  rows: readonly Selectable<CallsTable>[],
  { database, recorder, feed }: RecoveryOptions,
): Promise<void> {
  const lastMs = await lastEventOf(database, rows);
  const aliveMs = await lastSignOfLife(database);
  for (const row of rows) {
    const lostMs = Math.max(row.started_ms, lastMs.get(row.seq) ?? 0, aliveMs.get(row.gateway) ?? 0);
    const durationMs = row.state === 'dialing' ? 0 : Math.max(row.duration_ms, lostMs - row.started_ms);
    recorder.adopt(CallTally.adopt(row, lostMs));
    feed.publish({ type: 'call.ended', callId: row.id, reason: 'server_lost', durationMs, handoffData: null });
  }
}

async function lastEventOf({ db }: RecordsDatabase, rows: readonly { seq: number }[]): Promise<Map<number, number>> {
  const seqs = rows.map(({ seq }) => seq);
  const found = await db
    .selectFrom('events')
    .select(({ fn }) => ['call_seq', fn.max('at_ms').as('last_ms')])
    .where('call_seq', 'in', seqs)
    .groupBy('call_seq')
    .execute();
  return new Map(found.map(({ call_seq, last_ms }) => [call_seq, last_ms]));
}

async function lastSignOfLife({ db }: RecordsDatabase): Promise<Map<string, number>> {
  const found = await db.selectFrom('meta').selectAll().where('name', 'like', 'alive:%').execute();
  return new Map(found.map(({ name, value }) => [name.slice(aliveName('').length), Number(value)]));
}
