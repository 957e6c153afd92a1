/**
 * What dead gateways had told to all readers of the shared feed and had not stored: a gateway tells first, and stores a
 * tenth of a second later. PostgreSQL only.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { FeedEvent } from '../calls/feed/events.ts';
import { textKey } from './call-tally.ts';
import { FEED_LOCK_KEY } from './migrations/0004-cluster.ts';
import { TEXTS_PER_CALL } from './record-writer.ts';
import { type FoundEvent, isStored } from './recorder.ts';
import type { CallsTable, Tables } from './tables.ts';

/** Nobody appends to the feed, and no gateway comes back, until the transaction is over. */
export async function lockFeed(transaction: Kysely<Tables>): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(FEED_LOCK_KEY)})`.execute(transaction);
}

/**
 * Gives a row to each call of a dead gateway that has none: it had begun in the last moment.
 * @throws the error of the database
 */
export async function addUnstoredCalls(transaction: Kysely<Tables>): Promise<void> {
  await sql`
    INSERT INTO calls (id, carrier, from_party, to_party, inbound_name, outbound_name, agent, queue, app, state, gateway,
      started_ms, duration_ms, parameters, tracks, finals, spoken, keys, gaps)
    SELECT DISTINCT ON (call_id) call_id, said->>'carrier', said->>'from', said->>'to', said->'names'->>'inbound',
      said->'names'->>'outbound', said->>'agent', said->>'queue', said->>'app',
      CASE WHEN said->>'type' = 'call.started' THEN 'live' ELSE 'dialing' END, gateway,
      (extract(epoch FROM (said->>'startedAt')::timestamptz) * 1000)::bigint, 0, '{}',
      coalesce(said->>'tracks', '[]'), 0, 0, 0, 0
    FROM (
      SELECT call_id, gateway, number, content::json AS said FROM feed
      WHERE content LIKE '{"type":"call.sta%'
      AND gateway NOT IN (SELECT id FROM gateways WHERE state <> 'ended')
      AND NOT EXISTS (SELECT FROM calls WHERE calls.id = feed.call_id)
    ) AS told
    WHERE said->>'startedAt' IS NOT NULL
    ORDER BY call_id, number
    ON CONFLICT (id) DO NOTHING
  `.execute(transaction);
}

interface RemainRow {
  readonly number: number;
  readonly call_id: string;
  readonly content: string;
  readonly at_ms: number;
}

/**
 * Of these calls of dead gateways, as their rows were: the events that no record has, in order, by the calls' ids.
 * @throws the error of the database
 */
export async function findRemains(
  transaction: Kysely<Tables>,
  calls: readonly Pick<Selectable<CallsTable>, 'id' | 'gateway'>[],
): Promise<ReadonlyMap<string, readonly FoundEvent[]>> {
  const ids = calls.map(({ id }) => id);
  const gateways = [...new Set(calls.map(({ gateway }) => gateway))];
  const epoch = await epochOf(transaction);
  const { rows } = await sql<RemainRow>`
    SELECT number, call_id, content, at_ms FROM feed
    WHERE gateway = ANY(${gateways}::text[]) AND call_id = ANY(${ids}::text[])
    AND NOT EXISTS (SELECT FROM events WHERE events.epoch = ${epoch} AND events.number = feed.number)
    ORDER BY number
  `.execute(transaction);
  const found = new Map<string, FoundEvent[]>();
  for (const { number, call_id, content, at_ms } of rows) {
    const event = JSON.parse(content) as FeedEvent;
    if (!isStored(event)) continue;
    const ofCall = found.get(call_id) ?? [];
    ofCall.push({ entry: { id: `${epoch}-${number}`, event, json: content }, atMs: at_ms });
    found.set(call_id, ofCall);
  }
  return found;
}

/** The numbers of the texts that are stored of a call, by {@link textKey}. @throws the error of the database */
export async function textNumbers(db: Kysely<Tables>, seq: number): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('texts')
    .select(['id', 'kind', 'track', 'utterance'])
    .where('call_seq', '=', seq)
    .execute();
  return new Map(rows.map((row) => [textKey(row), row.id - seq * TEXTS_PER_CALL]));
}

async function epochOf(db: Kysely<Tables>): Promise<string> {
  const query = db.selectFrom('meta').select('value').where('name', '=', 'cluster:feed-epoch');
  return (await query.executeTakeFirst())?.value ?? '';
}
