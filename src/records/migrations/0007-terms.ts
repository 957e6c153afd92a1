/** Terms of gateways: one that was taken for dead and comes back begins another, and what it sent before is refused. */
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';
import { FEED_LOCK_KEY } from './0004-cluster.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

/** SQLSTATE with which `feed_append` refuses a gateway that was declared dead, or that speaks of an earlier term. */
const DECLARED_DEAD = 'TL001';

/** More events than are published in the second that a crash may take from a transaction log that nobody waits for. */
const LOST_NUMBERS_MAX = 1_000_000;

const STATEMENTS: readonly string[] = [
  'ALTER TABLE gateways ADD COLUMN term BIGINT NOT NULL DEFAULT 1',
  'DROP FUNCTION feed_append(TEXT, JSON)',
  // As in 0004, but for the term: a statement of an earlier one may still be on its way when the next has begun.
  `CREATE FUNCTION feed_append(of_gateway TEXT, of_term BIGINT, entries JSON)
  RETURNS TABLE (local_number BIGINT, number BIGINT) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  BEGIN
    PERFORM pg_advisory_xact_lock(${FEED_LOCK_KEY});
    PERFORM 1 FROM gateways WHERE id = of_gateway AND (state = 'ended' OR term <> of_term);
    IF FOUND THEN
      RAISE EXCEPTION 'the gateway was declared dead' USING ERRCODE = '${DECLARED_DEAD}';
    END IF;
    IF NOT EXISTS (SELECT FROM feed) THEN
      PERFORM set_config('synchronous_commit', 'on', TRUE);
      PERFORM setval('feed_number', nextval('feed_number') + ${LOST_NUMBERS_MAX});
    END IF;
    INSERT INTO feed (number, gateway, local_number, call_id, content, at_ms)
      SELECT nextval('feed_number'), of_gateway, sorted.local_number, sorted.call_id, sorted.content, sorted.at_ms
      FROM (
        SELECT * FROM json_to_recordset(entries)
          AS entry(local_number BIGINT, call_id TEXT, content TEXT, at_ms BIGINT)
        ORDER BY entry.local_number
      ) AS sorted
      ON CONFLICT (gateway, local_number) DO NOTHING;
    PERFORM pg_notify('trunkline_feed', '');
    RETURN QUERY
      SELECT feed.local_number, feed.number FROM feed
      WHERE feed.gateway = of_gateway AND feed.local_number IN (
        SELECT entry.local_number FROM json_to_recordset(entries) AS entry(local_number BIGINT)
      )
      ORDER BY feed.local_number;
  END $$`,
];

/** Only PostgreSQL has more than one gateway. */
export async function addTerms(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  if (kind !== 'postgres') return;
  for (const statement of STATEMENTS) await sql.raw(statement).execute(database);
}
