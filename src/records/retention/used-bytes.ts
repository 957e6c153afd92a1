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
