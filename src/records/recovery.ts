/** Ends the calls of gateways that died: their rows still say that they are live. */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Feed } from '../calls/feed/feed.ts';
import type { Clock } from '../foundation/clock.ts';
import { settlesWithin } from '../foundation/settles-within.ts';
import { CallTally } from './call-tally.ts';
import { addUnstoredCalls, findRemains, lockFeed, textNumbers } from './feed-remains.ts';
import { aliveName } from './record-writer.ts';
import type { FoundEvent, Recorder } from './recorder.ts';
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

/** Calls of dead gateways, and what these had told of them and not stored, by the calls' ids. */
interface LostCalls {
  readonly rows: readonly CallRow[];
  readonly remains: ReadonlyMap<string, readonly FoundEvent[]>;
}

/**
 * Publishes `call.ended` (`server_lost`) for every stored call that another gateway than this one left behind. It ended
 * when that gateway was last known to live: by the call's last event, or by a sign of life. What readers of a shared
 * feed had of it, and no record has, is stored before that. Resolves with their number when they are stored, or when
 * the disk has not stored them for 10 s.
 * @throws the error of the database
 */
export async function endLostCalls(options: RecoveryOptions): Promise<number> {
  const { recorder, clock } = options;
  let ended = 0;
  for (;;) {
    const lost = options.isShared === true ? await takeOver(options) : await findLost(options);
    if (lost.rows.length === 0) break;
    await endThese(lost, options);
    ended += lost.rows.length;
    if (!(await settlesWithin(clock, recorder.settled(), STORED_WITHIN_MS))) return ended;
  }
  await forgetSignsOfLife(options);
  return ended;
}

/** Calls of any gateway but this one. */
async function findLost({ database, feed }: RecoveryOptions): Promise<LostCalls> {
  const rows = await goingOn(database.db).where('gateway', '<>', feed.epoch).limit(CALLS_AT_ONCE).execute();
  return { rows, remains: new Map() };
}

/**
 * Makes calls of dead gateways those of this one, so that nobody else ends them, and the dead one cannot write them any
 * more. Returns them as they were. If this gateway dies before it has ended them, the next one takes them over.
 */
function takeOver({ database, feed }: RecoveryOptions): Promise<LostCalls> {
  return database.db.transaction().execute(async (transaction) => {
    await lockFeed(transaction);
    await addUnstoredCalls(transaction);
    const rows = await goingOn(transaction)
      .where('gateway', 'not in', livingIn(transaction))
      .limit(CALLS_AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute();
    if (rows.length === 0) return { rows, remains: new Map() };
    const remains = await findRemains(transaction, rows);
    await transaction
      .updateTable('calls')
      .set({ gateway: feed.epoch })
      .where(
        'seq',
        'in',
        rows.map(({ seq }) => seq),
      )
      .execute();
    return { rows, remains };
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
  { rows, remains }: LostCalls,
  { database, isShared = false, recorder, feed }: RecoveryOptions,
): Promise<void> {
  const lastMs = await lastEventOf(database, rows);
  const aliveMs = await lastSignOfLife(database, isShared);
  for (const row of rows) {
    const found = remains.get(row.id) ?? [];
    const seenMs = [lastMs.get(row.seq) ?? 0, aliveMs.get(row.gateway) ?? 0, ...found.map(({ atMs }) => atMs)];
    const lostMs = Math.max(row.started_ms, ...seenMs);
    const durationMs = row.state === 'dialing' ? 0 : Math.max(row.duration_ms, lostMs - row.started_ms);
    const numbers = found.length === 0 ? new Map<string, number>() : await textNumbers(database.db, row.seq);
    recorder.adopt(CallTally.adopt({ ...row, gateway: isShared ? feed.epoch : row.gateway }, lostMs, numbers));
    recorder.catchUp(found);
    // Its gateway had told the end itself.
    if (found.some(({ entry }) => entry.event.type === 'call.ended')) continue;
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
