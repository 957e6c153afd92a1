/** The table `gateways`: who lives. Times are the database's, so that no gateway's clock matters. */
import { POSTGRES_NOW_MS } from '../foundation/database/postgres-time.ts';
import { FEED_LOCK_KEY } from '../records/migrations/0004-cluster.ts';
import type { ClusterMember, Return } from './cluster.ts';
import type { ClusterSession } from './cluster-session.ts';

/** How long the rows of gateways that ended are kept. */
const ENDED_KEPT_MS = 86_400_000;

/** What a gateway says of itself. */
export interface GatewayLoad {
  readonly live: number;
  readonly maxCalls: number;
  readonly firmLoad: number;
}

/** What a heartbeat tells. */
interface Beat {
  /** All that did not end, also those that are silent. */
  readonly members: readonly ClusterMember[];
  readonly nowMs: number;
}

interface GatewayRow {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly state: ClusterMember['state'];
  readonly live: number;
  readonly max_calls: number;
  readonly firm_load: number;
  readonly started_ms: number;
  readonly seen_ms: number;
  readonly now_ms: number;
}

/** What a gateway says of itself once. */
export type NewGateway = Pick<ClusterMember, 'id' | 'name' | 'address' | 'state'>;

/** Adds this gateway. A second time, nothing changes. @throws the error of the database */
export async function insertGateway(session: ClusterSession, { id, name, address, state }: NewGateway): Promise<void> {
  await session.query(
    `INSERT INTO gateways (id, name, address, state, live, max_calls, firm_load, started_ms, seen_ms)
    VALUES ($1, $2, $3, $4, 0, 0, 0, ${POSTGRES_NOW_MS}, ${POSTGRES_NOW_MS}) ON CONFLICT (id) DO NOTHING`,
    [id, name, address, state],
  );
}

/** Deletes the rows of gateways that ended long ago. @throws the error of the database */
export async function forgetEnded(session: ClusterSession): Promise<void> {
  await session.query(`DELETE FROM gateways WHERE state = 'ended' AND seen_ms < ${POSTGRES_NOW_MS} - $1::bigint`, [
    ENDED_KEPT_MS,
  ]);
}

/** Says that this gateway lives. Null = its term is over: it was declared dead. @throws the error of the database */
export async function beat(
  session: ClusterSession,
  { id, state, term }: Pick<NewGateway, 'id' | 'state'> & { readonly term: number },
  { live, maxCalls, firmLoad }: GatewayLoad,
): Promise<Beat | null> {
  const seen = await session.query(
    `UPDATE gateways SET seen_ms = ${POSTGRES_NOW_MS}, state = $2, live = $3, max_calls = $4, firm_load = $5
    WHERE id = $1 AND state <> 'ended' AND term = $6 RETURNING id`,
    [id, state, live, maxCalls, firmLoad, term],
  );
  if (seen.length === 0) return null;
  const rows = await session.query<GatewayRow>(
    `SELECT *, ${POSTGRES_NOW_MS} AS now_ms FROM gateways WHERE state <> 'ended' ORDER BY id = $1 DESC, started_ms, id`,
    [id],
  );
  return { members: rows.map(memberOf), nowMs: rows[0]?.now_ms ?? 0 };
}

/**
 * Declares a gateway dead that has been silent for `deadAfterMs`. False = it is not silent, or another did.
 * @throws the error of the database
 */
export async function declareDead(session: ClusterSession, id: string, deadAfterMs: number): Promise<boolean> {
  const ended = await session.query(
    `UPDATE gateways SET state = 'ended'
    WHERE id = $1 AND state <> 'ended' AND seen_ms <= ${POSTGRES_NOW_MS} - $2::bigint RETURNING id`,
    [id, deadAfterMs],
  );
  return ended.length > 0;
}

/** Says of others that they live: they were reached, and cannot say so themselves. @throws the error of the database */
export async function sayTheyLive(session: ClusterSession, ids: readonly string[]): Promise<void> {
  await session.query(
    `UPDATE gateways SET seen_ms = ${POSTGRES_NOW_MS} WHERE id = ANY($1::text[]) AND state <> 'ended'`,
    [ids],
  );
}

/**
 * Registers a gateway again that was declared dead, and makes the calls that it holds its own again: all at once, or
 * nothing. Nobody appends to the feed and nobody takes calls over meanwhile. `lastTerm` = the last that it knows of.
 * @throws the error of the database
 */
export function registerAgain(
  session: ClusterSession,
  { id, name, address, state }: NewGateway,
  { held, lastTerm }: { readonly held: readonly string[]; readonly lastTerm: number },
): Promise<Return> {
  return session.transaction(async () => {
    await session.query('SELECT pg_advisory_xact_lock($1)', [FEED_LOCK_KEY]);
    const [row] = await session.query<{ term: number }>(
      `INSERT INTO gateways (id, name, address, state, live, max_calls, firm_load, started_ms, seen_ms, term)
      VALUES ($1, $2, $3, $4, 0, 0, 0, ${POSTGRES_NOW_MS}, ${POSTGRES_NOW_MS}, $5)
      ON CONFLICT (id) DO UPDATE SET state = $4, seen_ms = ${POSTGRES_NOW_MS}, term = gateways.term + 1 RETURNING term`,
      [id, name, address, state, lastTerm + 1],
    );
    const calls = await session.query<{ id: string; state: string }>(
      `UPDATE calls SET gateway = $1 FROM (SELECT id, state FROM calls WHERE id = ANY($2::text[]) FOR UPDATE) AS held
      WHERE calls.id = held.id RETURNING held.id, held.state`,
      [id, held],
    );
    const [feed] = await session.query<{ last: number }>('SELECT last_value AS last FROM feed_number');
    return {
      term: row?.term ?? lastTerm + 1,
      feedNumber: feed?.last ?? 0,
      stored: new Set(calls.map((call) => call.id)),
      ended: calls.filter((call) => call.state === 'ended').map((call) => call.id),
    };
  });
}

/** This gateway ends. @throws the error of the database */
export async function endGateway(session: ClusterSession, id: string): Promise<void> {
  await session.query(
    `UPDATE gateways SET state = 'ended', seen_ms = ${POSTGRES_NOW_MS} WHERE id = $1 AND state <> 'ended'`,
    [id],
  );
}

/** How many gateways were not silent for so long. @throws the error of the database */
export async function countLiving(session: ClusterSession, deadAfterMs: number): Promise<number> {
  const rows = await session.query<{ living: number }>(
    `SELECT count(*) AS living FROM gateways WHERE state <> 'ended' AND seen_ms > ${POSTGRES_NOW_MS} - $1::bigint`,
    [deadAfterMs],
  );
  return rows[0]?.living ?? 0;
}

/** Whether calls go on whose gateways do not live. @throws the error of the database */
export async function hasOrphans(session: ClusterSession): Promise<boolean> {
  const rows = await session.query(
    `SELECT 1 FROM calls WHERE state <> 'ended'
    AND gateway NOT IN (SELECT id FROM gateways WHERE state <> 'ended') LIMIT 1`,
  );
  return rows.length > 0;
}

function memberOf(row: GatewayRow): ClusterMember {
  const { id, name, address, state, live } = row;
  const load = { live, maxCalls: row.max_calls, firmLoad: row.firm_load };
  return { id, name, address, state, ...load, startedMs: row.started_ms, seenMs: row.seen_ms };
}
