/**
 * The indexes of numbers from their end also have the number itself, so that calls are counted and sorted without their
 * rows: 20,000 of these lie on almost as many pages.
 * https://www.postgresql.org/docs/current/indexes-index-only-scans.html
 */
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../database-kind.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, not as tables.ts has them
type AnyDatabase = Kysely<any>;

/** As in 0006. */
const REVERSED_CHARS = 16;

function indexOf(column: string, kind: DatabaseKind): string {
  const index = `CREATE INDEX calls_${column}_reversed ON calls`;
  const end = `WHERE ${column} IS NOT NULL`;
  if (kind === 'postgres')
    return `${index} (reverse(${column}) text_pattern_ops, started_ms, seq) INCLUDE (${column}) ${end}`;
  const reversed = Array.from({ length: REVERSED_CHARS }, (_, at) => `substr(${column}, -${at + 1}, 1)`).join(' || ');
  return `${index} ((${reversed}), started_ms, seq, ${column}) ${end}`;
}

/** Makes them anew. */
export async function addWholeNumbers(database: AnyDatabase, kind: DatabaseKind): Promise<void> {
  for (const column of ['from_party', 'to_party']) {
    await sql.raw(`DROP INDEX calls_${column}_reversed`).execute(database);
    await sql.raw(indexOf(column, kind)).execute(database);
  }
}
