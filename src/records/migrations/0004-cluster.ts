/** What several gateways share beside the records: who is there, the feed, one-use tokens, failed attempts, batches. */
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

/**
 * Of `feed_append`: whoever reads entries by their numbers must not see 8 before 7. Also of whoever takes over calls of
 * a gateway that died, and of a gateway that comes back: while one of them holds it, nobody else is either.
 */
export const FEED_LOCK_KEY = 7_214_380_062;

/** SQLSTATE with which `feed_append` refuses a gateway that was declared dead. */
const DECLARED_DEAD = 'TL001';

/** More events than are published in the second that a crash may take from a transaction log that nobody waits for. */
const LOST_NUMBERS_MAX = 1_000_000;

const TABLES: readonly string[] = [
  `CREATE TABLE gateways (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    state TEXT NOT NULL,
    live BIGINT NOT NULL,
    max_calls BIGINT NOT NULL,
    firm_load DOUBLE PRECISION NOT NULL,
    started_ms BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL
  )`,
  // What it has is worth nothing after a crash.
  `CREATE UNLOGGED TABLE live_calls (
    call_id TEXT PRIMARY KEY,
    gateway TEXT NOT NULL,
    content TEXT NOT NULL,
    at_ms BIGINT NOT NULL
  )`,
  `CREATE TABLE one_use (
    kind TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    content TEXT NOT NULL,
    expires_ms BIGINT NOT NULL,
    PRIMARY KEY (kind, key_hash)
  )`,
  'CREATE INDEX one_use_expires ON one_use (expires_ms)',
  `CREATE TABLE attempts (
    kind TEXT NOT NULL,
    subject_hash TEXT NOT NULL,
    tokens DOUBLE PRECISION NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (kind, subject_hash)
  )`,
];

/** As src/jobs/shared/batch-rows.ts has them. */
const BATCHES: readonly string[] = [
  `CREATE TABLE batches (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, home TEXT NOT NULL, state TEXT NOT NULL, request TEXT NOT NULL,
    idempotency_key TEXT, idempotency_hash TEXT, webhook_url TEXT, webhook_state TEXT,
    webhook_attempts BIGINT NOT NULL DEFAULT 0, created_ms BIGINT NOT NULL, ended_ms BIGINT,
    UNIQUE (tenant, idempotency_key)
  )`,
  `CREATE TABLE batch_files (
    batch_id TEXT NOT NULL REFERENCES batches (id) ON DELETE CASCADE, number BIGINT NOT NULL, name TEXT NOT NULL,
    source TEXT NOT NULL, state TEXT NOT NULL, is_queued BIGINT NOT NULL DEFAULT 0, tries BIGINT NOT NULL DEFAULT 0,
    share DOUBLE PRECISION, duration_ms BIGINT, error TEXT, transcript TEXT, spoken TEXT,
    PRIMARY KEY (batch_id, number)
  )`,
  'CREATE INDEX batches_of_tenant ON batches (tenant, created_ms)',
  'CREATE INDEX batches_ended ON batches (ended_ms) WHERE ended_ms IS NOT NULL',
  "CREATE INDEX batch_files_open ON batch_files (batch_id, number) WHERE state = 'waiting'",
];

/** The sequence is logged, the table is not: after a crash entries are gone, and no number is given twice. */
const FEED: readonly string[] = [
  `INSERT INTO meta (name, value) VALUES ('cluster:feed-epoch', gen_random_uuid()::text)`,
  'CREATE SEQUENCE feed_number',
  `CREATE UNLOGGED TABLE feed (
    number BIGINT PRIMARY KEY,
    gateway TEXT NOT NULL,
    local_number BIGINT NOT NULL,
    call_id TEXT NOT NULL,
    content TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    UNIQUE (gateway, local_number)
  )`,
  // Each statement of the function sees what was committed before it began, so also all that the lock waited for. An
  // empty table was emptied by a crash, which may have taken the last moments of the sequence with it.
  `CREATE FUNCTION feed_append(of_gateway TEXT, entries JSON)
  RETURNS TABLE (local_number BIGINT, number BIGINT) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  BEGIN
    PERFORM pg_advisory_xact_lock(${FEED_LOCK_KEY});
    PERFORM 1 FROM gateways WHERE id = of_gateway AND state = 'ended';
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
export async function addCluster(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  if (kind !== 'postgres') return;
  for (const statement of [...TABLES, ...BATCHES, ...FEED]) await sql.raw(statement).execute(database);
}
