/** What a SIP trunk answered to calls of ours that did not begin. */
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

/** Adds the columns; of calls from before nothing is known. */
export async function addSipAnswers(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  const whole = kind === 'sqlite' ? 'INTEGER' : 'BIGINT';
  await sql.raw(`ALTER TABLE calls ADD COLUMN sip_status ${whole}`).execute(database);
  await sql.raw('ALTER TABLE calls ADD COLUMN sip_reason TEXT').execute(database);
}
