/** The batches that several gateways work on; one gateway keeps its own in BATCH_DIR, and has no such tables. */
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as code has them now
type AnyDatabase = Kysely<any>;

/** As src/jobs/shared/batch-tables.ts reads them. */
const STATEMENTS: readonly string[] = [
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

/** Adds the tables, to PostgreSQL alone. */
export async function addSharedBatches(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  if (kind === 'sqlite') return;
  for (const statement of STATEMENTS) await sql.raw(statement).execute(database);
}
