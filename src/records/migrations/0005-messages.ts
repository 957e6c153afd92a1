/** Webhooks that go elsewhere than the rest, and the room that the messages of callers take. */
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

/** Adds the columns. Messages that are there are counted when another of their call is left or deleted. */
export async function addMessages(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  const whole = kind === 'sqlite' ? 'INTEGER' : 'BIGINT';
  const statements = [
    'ALTER TABLE outbox ADD COLUMN target TEXT',
    `ALTER TABLE calls ADD COLUMN message_bytes ${whole}`,
    'CREATE INDEX calls_with_messages ON calls (message_bytes) WHERE message_bytes IS NOT NULL',
  ];
  for (const statement of statements) await sql.raw(statement).execute(database);
}
