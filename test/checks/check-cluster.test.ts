import { beforeAll, describe, expect, it } from 'vitest';
import { checkCluster } from '../../src/checks/check-cluster.ts';
import { type Clock, systemClock } from '../../src/foundation/clock.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../helpers/postgres.ts';

const CLUSTER_KEY = 'k'.repeat(32);

describe.skipIf(whyNoPostgres !== '')(`the doctor of several servers${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  beforeAll(async () => {
    postgres = await sharedPostgres();
  });

  it('says whether clocks, connections and locks are as servers need them', async () => {
    const DATABASE_URL = await postgres.createDatabase();
    expect(await checkCluster({ CLUSTER_KEY, DATABASE_URL, DATABASE_DIRECT_URL: '' })).toEqual([
      { name: 'clock', status: 'ok', detail: expect.stringMatching(/agree/) },
      { name: 'servers', status: 'ok', detail: expect.stringMatching(/^0 servers use .* room for 5 .*\b100\b/) },
      { name: 'locks', status: 'ok', detail: expect.any(String) },
    ]);
  });

  it('names a clock that is off, and a direct URL of another database', async () => {
    const [DATABASE_URL, DATABASE_DIRECT_URL] = [await postgres.createDatabase(), await postgres.createDatabase()];
    const wall = () => new Date(systemClock.wall().getTime() - 60_000);
    const late: Clock = { ...systemClock, wall };
    const found = await checkCluster({ CLUSTER_KEY, DATABASE_URL, DATABASE_DIRECT_URL }, late);
    expect(found).toMatchObject([
      { name: 'clock', status: 'warn', detail: expect.stringMatching(/NTP/) },
      { name: 'servers', status: 'ok' },
      { name: 'locks', status: 'fail', detail: expect.stringMatching(/another database/) },
    ]);
  });

  it('names the clock alone for a server that is alone, and fails where the database is away', async () => {
    const away = { DATABASE_URL: 'postgres://127.0.0.1:1/db', DATABASE_DIRECT_URL: '' };
    const DATABASE_URL = await postgres.createDatabase();
    expect(await checkCluster({ CLUSTER_KEY: '', DATABASE_URL, DATABASE_DIRECT_URL: '' })).toMatchObject([
      { name: 'clock', status: 'ok' },
    ]);
    expect(await checkCluster({ CLUSTER_KEY: '', ...away })).toEqual([]);
    expect(await checkCluster({ CLUSTER_KEY: '', DATABASE_URL: '', DATABASE_DIRECT_URL: '' })).toEqual([]);
    expect(await checkCluster({ CLUSTER_KEY, ...away })).toMatchObject([
      { name: 'servers', status: 'fail', detail: expect.stringMatching(/ECONNREFUSED/) },
    ]);
  });
});
