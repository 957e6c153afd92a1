import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCluster } from '../../src/cluster/open-cluster.ts';
import type { PostgresCluster } from '../../src/cluster/postgres-cluster.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';

const CLUSTER_KEY = 'k'.repeat(32);

interface Joined {
  readonly database: RecordsDatabase;
  readonly cluster: PostgresCluster;
  leave(): Promise<void>;
}

describe.skipIf(whyNoPostgres !== '')(`gateways that share a database${whyNoPostgres}`, () => {
  let postgres: TestPostgres;

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(() => postgres.remove());

  async function join(DATABASE_URL: string, number: number): Promise<Joined> {
    const parts = { clock: systemClock, log: createLog('silent') };
    const database = await openPostgresRecords(DATABASE_URL, { ...parts, isShared: true });
    const GATEWAY_URL = `http://10.0.0.${number}:8080`;
    const settings = { CLUSTER_KEY, DATABASE_URL, DATABASE_DIRECT_URL: '', GATEWAY_URL };
    const cluster = await openCluster(settings, { ...parts, database });
    if (cluster === null) throw new Error('there is no cluster');
    return {
      database,
      cluster,
      leave: async () => {
        await cluster.close();
        await database.close();
      },
    };
  }

  it('start at once on an empty database, which is migrated once, and see each other', async () => {
    const url = await postgres.createDatabase();
    const joined = await Promise.all([1, 2, 3, 4].map((number) => join(url, number)));
    const [first] = joined;
    const epochs = await first?.database.db
      .selectFrom('meta')
      .select('value')
      .where('name', '=', 'cluster:feed-epoch')
      .execute();
    expect(epochs).toHaveLength(1);
    await Promise.all(joined.map(({ cluster }) => cluster.setState('draining')));
    await first?.cluster.setState('draining');
    expect(
      first?.cluster
        .members()
        .map(({ address, state }) => `${address} ${state}`)
        .toSorted(),
    ).toEqual([1, 2, 3, 4].map((number) => `http://10.0.0.${number}:8080 draining`));
    await Promise.all(joined.map(({ leave }) => leave()));
  });
});
