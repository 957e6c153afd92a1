/** Migrations that people are told of: with a million calls one takes minutes, and nothing listens meanwhile. */
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../foundation/clock.ts';
import type { DatabaseKind } from '../database-kind.ts';
import type { Tables } from '../tables.ts';
import { migrate, type SchemaState } from './migrations.ts';

const TELL_PERIOD_MS = 5000;

/** Who is told, a line for people each. */
export interface MigrationListener {
  readonly clock: Clock;
  tell(line: string): void;
}

/**
 * Brings a schema up that is in `state`, after `copy`. A new database is nothing to tell of.
 * @throws the error of the database or of `copy`
 */
export async function migrateTold(
  db: Kysely<Tables>,
  kind: DatabaseKind,
  { applied, pending }: SchemaState,
  { clock, tell }: MigrationListener,
  copy: () => Promise<void> = async () => undefined,
): Promise<void> {
  if (applied.length === 0) return migrate(db, kind);
  const beganMs = clock.nowMs();
  let at = 'a copy is made';
  tell(`bringing the records up to this version (${pending.join(', ')}); a start waits for it`);
  const telling = clock.every(TELL_PERIOD_MS, () => {
    const seconds = Math.round((clock.nowMs() - beganMs) / 1000);
    tell(`still bringing the records up to this version: ${at}, ${seconds} s so far`);
  });
  try {
    await copy();
    await migrate(db, kind, (step) => {
      at = step;
    });
    // Until then nothing is known of what a new index has, and rows that were written anew are looked at one by one.
    if (kind === 'postgres') await sql`VACUUM (ANALYZE) calls, call_tags`.execute(db);
  } finally {
    telling.cancel();
  }
}
