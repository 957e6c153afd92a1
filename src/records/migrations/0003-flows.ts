/** Which flow a call went through and in which version, and an index by which its steps are found. */
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

const STATEMENTS: readonly string[] = [
  'ALTER TABLE calls ADD COLUMN flow TEXT',
  'ALTER TABLE calls ADD COLUMN flow_version TEXT',
  'CREATE INDEX calls_flow ON calls (flow, started_ms, seq) WHERE flow IS NOT NULL',
  // A query uses it that has the same condition in the same words: src/records/flows/flow-events.ts.
  `CREATE INDEX events_of_flows ON events (call_seq, position)
    WHERE type IN ('flow.started', 'flow.step', 'flow.input', 'flow.ended')`,
];

/** Adds the columns and the indexes. Calls that are there went through no flow. */
export async function addFlows(database: AnyDatabase): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(database);
}
