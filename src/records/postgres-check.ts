/** Whether the database at an address is the one that was opened, and lets us write. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import { DatabaseAway } from '../foundation/database/trouble.ts';
import type { Tables } from './tables.ts';

/** The name in `meta` of the id that tells one installation's database from another's. */
const INSTALLATION = 'installation';

const FIND_INSTALLATION = `SELECT value FROM meta WHERE name = '${INSTALLATION}'`;

/** A right on a whole table that we do not have. */
const MISSING_RIGHTS = `
  SELECT wanted_right || ' on ' || wanted_table AS missing
  FROM unnest(ARRAY['calls', 'events', 'texts', 'call_tags', 'outbox', 'audit', 'meta']) AS wanted_table,
    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted_right
  WHERE NOT has_table_privilege(wanted_table, wanted_right)
  LIMIT 1`;

/** @throws DatabaseAway when a right on a table is missing, or a table */
export async function requireRights(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql.raw<{ missing: string }>(MISSING_RIGHTS).execute(db);
  const [first] = rows;
  if (first === undefined) return;
  throw new DatabaseAway(`the role of DATABASE_URL has no right to ${first.missing}`, 'right', '42501');
}

/** Remembers which database was opened. */
export class PostgresCheck {
  #installation: string | null = null;

  /** Takes the database of `db` for ours; it gets an id where it has none. @throws the error of the database */
  async begin(db: Kysely<Tables>): Promise<void> {
    await db
      .insertInto('meta')
      .values({ name: INSTALLATION, value: randomUUID() })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    const found = await db
      .selectFrom('meta')
      .select('value')
      .where('name', '=', INSTALLATION)
      .executeTakeFirstOrThrow();
    this.#installation = found.value;
  }

  /** To be called with each new connection. @throws DatabaseAway when it leads to another database; its error */
  async verify(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
    if (this.#installation === null) return;
    const { rows } = await client.query<{ value: string }>(FIND_INSTALLATION);
    this.#require(rows[0]?.value);
  }

  /** @throws DatabaseAway, also when a right is missing */
  async run(db: Kysely<Tables>): Promise<void> {
    const found = await sql.raw<{ value: string }>(FIND_INSTALLATION).execute(db);
    this.#require(found.rows[0]?.value);
    await requireRights(db);
  }

  #require(installation: string | undefined): void {
    if (installation === this.#installation) return;
    throw new DatabaseAway("the database at DATABASE_URL is another installation's", 'other_database');
  }
}
