/** Takes calls out of the database, a little at a time, so that no write waits long. */
import { type Kysely, sql } from 'kysely';
import type { RecordsDatabase } from '../records-database.ts';
import type { Tables } from '../tables.ts';

/** Rows that one statement deletes: those of texts also leave the full-text index, word by word. */
const TEXTS_PER_WRITE = 100;
const EVENTS_PER_WRITE = 500;

/** The database, as far as calls are taken out of it. */
export type RowsDatabase = Pick<RecordsDatabase, 'db' | 'kind'>;

/**
 * Deletes all rows of a call. When the program ends in the middle, the call is due for {@link findDueCalls} at once, so
 * that the next start does the rest.
 */
export async function deleteCallRows({ db, kind }: RowsDatabase, seq: number): Promise<void> {
  await db.updateTable('calls').set({ keep_until_ms: 0 }).where('seq', '=', seq).execute();
  while ((await deleteTexts(db, seq)) === TEXTS_PER_WRITE);
  while ((await deleteEvents(db, seq)) === EVENTS_PER_WRITE);
  if (kind === 'postgres') await deleteFeedRows(db, seq);
  await db.deleteFrom('calls').where('seq', '=', seq).execute();
}

/** What several gateways told each other of the call. What is on its way is deleted when they learn of the deletion. */
async function deleteFeedRows(db: Kysely<Tables>, seq: number): Promise<void> {
  await sql`DELETE FROM feed WHERE call_id = (SELECT id FROM calls WHERE seq = ${seq})`.execute(db);
}

async function deleteTexts(db: Kysely<Tables>, seq: number): Promise<number> {
  const some = db.selectFrom('texts').select('id').where('call_seq', '=', seq).limit(TEXTS_PER_WRITE);
  const { numDeletedRows } = await db.deleteFrom('texts').where('id', 'in', some).executeTakeFirst();
  return Number(numDeletedRows);
}

async function deleteEvents(db: Kysely<Tables>, seq: number): Promise<number> {
  const some = db.selectFrom('events').select('position').where('call_seq', '=', seq).limit(EVENTS_PER_WRITE);
  const { numDeletedRows } = await db.deleteFrom('events').where('position', 'in', some).executeTakeFirst();
  return Number(numDeletedRows);
}

/**
 * Empties SQLite's log, which still holds what was deleted: https://sqlite.org/pragma.html#pragma_wal_checkpoint. What
 * PostgreSQL keeps in its log and backups is its operator's.
 */
export async function emptyLog({ db, kind }: RowsDatabase): Promise<void> {
  if (kind === 'sqlite') await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db);
}
