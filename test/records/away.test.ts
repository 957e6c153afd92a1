/** What is asked of a database that does not answer. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { expect, it } from 'vitest';
import { openPool } from '../../src/foundation/database/postgres.ts';
import { TellingPostgresDialect } from '../../src/foundation/database/postgres-dialect.ts';
import { DatabaseAway, isDatabaseTrouble } from '../../src/foundation/database/trouble.ts';
import { CallLists } from '../../src/records/search/call-lists.ts';
import type { Tables } from '../../src/records/tables.ts';
import { FakeClock } from '../fakes/clock.ts';
import { callView } from '../helpers/call-view.ts';
import { freePort } from '../helpers/ports.ts';

/** A database whose connections never come. */
class SilentDriver extends DummyDriver {
  override acquireConnection(): Promise<never> {
    return new Promise(() => undefined);
  }
}

function silentDatabase(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new SilentDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

it('live calls are listed from memory when the database does not answer for a second', async () => {
  const clock = new FakeClock();
  const database = { kind: 'postgres', reader: silentDatabase() } as const;
  const calls = { toView: () => expect.fail('nothing is stored') };
  const lists = new CallLists({ database, clock, calls, live: () => null });
  const live = callView('CA1');
  const memory = { list: () => [live], get: () => undefined };
  const listed = lists.list(memory, { state: 'live' }, { after: null, limit: 10 });
  await clock.run(1000);
  expect(await listed).toEqual([live]);
});

it('a PostgreSQL server that is away is told from one that refuses', async () => {
  const pool = openPool(`postgres://tester@127.0.0.1:${await freePort()}/none`);
  const db = new Kysely<Tables>({ dialect: new TellingPostgresDialect({ pool }, 'the database of the records') });
  const error: unknown = await db
    .selectFrom('calls')
    .selectAll()
    .execute()
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DatabaseAway);
  expect(String(error)).toContain('the database of the records cannot be used just now (ECONNREFUSED)');
  expect(isDatabaseTrouble(error)).toBe(true);
  await db.destroy();
});
