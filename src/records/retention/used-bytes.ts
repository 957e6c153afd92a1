/** Room in a SQLite database. */
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Bytes of a SQLite database that hold something. Its file does not shrink: the pages that deletions freed are used
 * again.
 */
export async function usedBytes(reader: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT (page_count - freelist_count) * page_size AS bytes
    FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()
  `.execute(reader);
  return rows[0]?.bytes ?? 0;
}

/** Pages of the full-text index that one step writes. */
const PAGES_PER_STEP = 16;

/**
 * One step of merging the full-text index, which frees what deletions left half empty
 * (https://sqlite.org/fts5.html#the_merge_command). `begins` = all of it is to be merged. Resolves with whether there
 * is more to do.
 */
export async function mergeIndex(db: Kysely<Tables>, begins: boolean): Promise<boolean> {
  const before = await countChanges(db);
  const pages = begins ? -PAGES_PER_STEP : PAGES_PER_STEP;
  await sql`INSERT INTO texts_index (texts_index, rank) VALUES ('merge', ${pages})`.execute(db);
  return (await countChanges(db)) - before >= 2;
}

async function countChanges(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ changes: number }>`SELECT total_changes() AS changes`.execute(db);
  return rows[0]?.changes ?? 0;
}
