/** Ends the calls of gateways that died: their rows still say that they are live. */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Feed } from '../calls/feed/feed.ts';
import type { Clock } from '../foundation/clock.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { CallTally } from './call-tally.ts';
import { aliveName } from './record-writer.ts';
import type { Recorder } from './recorder.ts';
import type { RecordsDatabase } from './records-database.ts';
import type { CallsTable, Tables } from './tables.ts';

/** More calls than a gateway has are ended in slices. */
const CALLS_AT_ONCE = 200;

/** A disk that does not answer must not keep calls out. */
const STORED_WITHIN_MS = 10_000;

interface RecoveryOptions {
  readonly database: RecordsDatabase;
  /** Several gateways share the database: those in the table `gateways` that did not end keep their calls. */
  readonly isShared?: boolean;
  readonly recorder: Recorder;
  readonly feed: Pick<Feed, 'publish' | 'epoch'>;
  readonly clock: Clock;
}

type CallRow = Selectable<CallsTable>;

/**
 * Publishes `call.ended` (`server_lost`) for every stored call that another gateway than this one left behind. It ended
 * when that gateway was last known to live: by the call's last event, or by a sign of life. Resolves with their number
 * when they are stored, or when the disk has not stored them for 10 s.
 * @throws the error of the database
 */
export async function endLostCalls(options: RecoveryOptions): Promise<number> {
  const { recorder, clock } = options;
  let ended = 0;
  for (;;) {
    const rows = options.isShared === true ? await takeOver(options) : await findLost(options);
    if (rows.length === 0) break;
    await endThese(rows, options);
    ended += rows.length;
    if (!(await settlesWithin(clock, recorder.settled(), STORED_WITHIN_MS))) return ended;
  }
  await forgetSignsOfLife(options);
  return ended;
}

/** Calls of any gateway but this one. */
function findLost({ database, feed }: RecoveryOptions): Promise<CallRow[]> {
  return goingOn(database.db).where('gateway', '<>', feed.epoch).limit(CALLS_AT_ONCE).execute();
}

/**
 * Makes calls of dead gateways those of this one, so that nobody else ends them, and the dead one cannot write them any
 * more. Returns them as they were. If this gateway dies before it has ended them, the next one takes them over.
 */
function takeOver({ database, feed }: RecoveryOptions): Promise<CallRow[]> {
  return database.db.transaction().execute(async (transaction) => {
    const rows = await goingOn(transaction)
      .where('gateway', 'not in', livingIn(transaction))
      .limit(CALLS_AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute();
    if (rows.length === 0) return rows;
    await transaction
      .updateTable('calls')
      .set({ gateway: feed.epoch })
      .where(
        'seq',
        'in',
        rows.map(({ seq }) => seq),
      )
      .execute();
    return rows;
  });
}

function goingOn(db: Kysely<Tables>) {
  return (
    db
      .selectFrom('calls')
      .selectAll()
      // As it is written here: a bound value would not be seen to fit the index of calls that are not over.
      .where(sql<boolean>`state <> 'ended'`)
      .where('state', 'in', ['dialing', 'live'])
  );
}

function livingIn(db: Kysely<Tables>) {
  return db.selectFrom('gateways').select('id').where('state', '<>', 'ended');
}

async function forgetSignsOfLife({ database: { db }, isShared, feed }: RecoveryOptions): Promise<void> {
  let signs = db.deleteFrom('meta').where('name', 'like', 'alive:%').where('name', '<>', aliveName(feed.epoch));
  if (isShared === true)
    signs = signs.where(sql<string>`substr(name, ${aliveName('').length + 1}::int)`, 'not in', livingIn(db));
  await signs.execute();
}

async function endThese(
  rows: readonly CallRow[],
  { database, isShared = false, recorder, feed }: RecoveryOptions,
): Promise<void> {
  const lastMs = await lastEventOf(database, rows);
  const aliveMs = await lastSignOfLife(database, isShared);
  for (const row of rows) {
    const lostMs = Math.max(row.started_ms, lastMs.get(row.seq) ?? 0, aliveMs.get(row.gateway) ?? 0);
    const durationMs = row.state === 'dialing' ? 0 : Math.max(row.duration_ms, lostMs - row.started_ms);
    recorder.adopt(CallTally.adopt({ ...row, gateway: isShared ? feed.epoch : row.gateway }, lostMs));
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

/** By the gateways' ids, in ms since 1970. */
async function lastSignOfLife({ db }: RecordsDatabase, isShared: boolean): Promise<Map<string, number>> {
  const found = await db.selectFrom('meta').selectAll().where('name', 'like', 'alive:%').execute();
  const seen = isShared ? await db.selectFrom('gateways').select(['id', 'seen_ms']).execute() : [];
  const signs = found.map(({ name, value }) => [name.slice(aliveName('').length), Number(value)] as const);
  return new Map([...signs, ...seen.map(({ id, seen_ms }) => [id, seen_ms] as const)]);
}
