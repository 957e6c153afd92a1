import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { abortable } from '../../../src/foundation/database/abort.ts';
import { eventually } from '../../helpers/eventually.ts';
import { DATABASES } from '../databases.ts';

const [SQLITE, POSTGRES] = DATABASES;

describe('a read of SQLite whose asker has left', () => {
  const databases = SQLITE.start();
  afterAll(() => databases.end());

  it('is not run where it waits, and what comes after it is', async () => {
    const { reader } = await databases.open();
    const gone = new AbortController();
    const slow = sql`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300000)
      SELECT max(n) FROM c`;
    const before = slow.execute(reader);
    const waiting = abortable(gone.signal, () => sql`INSERT INTO meta VALUES ('left', '')`.execute(reader));
    gone.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await before;
    expect(await reader.selectFrom('meta').select('name').where('name', '=', 'left').execute()).toEqual([]);
  });

  it('is not asked at all when it comes late, and others are as ever', async () => {
    const { reader } = await databases.open();
    const gone = AbortSignal.abort(new Error('left'));
    await expect(abortable(gone, () => reader.selectFrom('calls').selectAll().execute())).rejects.toThrow('left');
    expect(await reader.selectFrom('calls').selectAll().execute()).toEqual([]);
  });
});

describe(`a query of ${POSTGRES.name} whose asker has left`, () => {
  const databases = POSTGRES.start();
  afterAll(() => databases.end());

  it.runIf(POSTGRES.isThere)(
    'ends at the server, also where all connections are busy, and hurts no other',
    async () => {
      const { reader } = await databases.open();
      const other = await databases.open();
      const asleep = sql<{
        n: number;
      }>`SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE 'select pg_sleep%' AND
      state = 'active'`;
      const sleepers = async () => (await asleep.execute(other.reader)).rows[0]?.n;
      const gone = new AbortController();
      const asked = Array.from({ length: 6 }, () =>
        abortable(gone.signal, () => sql`select pg_sleep(600)`.execute(reader)).catch((error: Error) => error.message),
      );
      await eventually(async () => expect(await sleepers()).toBe(6));
      gone.abort(new Error('left'));
      expect(await Promise.all(asked)).toEqual(Array.from({ length: 6 }, () => 'left'));
      expect(await sleepers()).toBe(0);
      expect(await reader.selectFrom('calls').selectAll().execute()).toEqual([]);
    },
  );
});
