/** How much of DATA_DIR is in use. */
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

/** Calls whose sound is counted by one statement. */
const CALLS_PER_READ = 2000;

/** Bytes of the finished sound of all stored calls. */
export async function storedSoundBytes(reader: Kysely<Tables>): Promise<number> {
  let bytes = 0;
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const calls = await reader
      .selectFrom('calls')
      .select(['seq', 'sound_bytes'])
      .where('seq', '<', below)
      .orderBy('seq', 'desc')
      .limit(CALLS_PER_READ)
      .execute();
    for (const { sound_bytes } of calls) bytes += sound_bytes ?? 0;
    const last = calls.at(-1);
    if (last === undefined || calls.length < CALLS_PER_READ) return bytes;
    below = last.seq;
  }
}
