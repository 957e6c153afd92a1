import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterTimes, PostgresCluster } from '../../src/cluster/postgres-cluster.ts';
import { type Clock, sleep, systemClock, type Timer } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';

/** A tenth of the usual ones, but for what depends on the machine. */
const FAST: ClusterTimes = { heartbeat: 200, retry: 50, dead: 1500, grace: 750, silentLeader: 700 };

const KEY = 'the key of all';

interface Joined {
  readonly number: number;
  readonly database: RecordsDatabase;
  readonly cluster: PostgresCluster;
  /** Heartbeats come, or do not, as if the process stood still. */
  readonly pause: { isPaused: boolean };
  leave(): Promise<void>;
}

/** A clock whose timers wait while `pause` says so. */
function pausedClock(pause: { readonly isPaused: boolean }): Clock {
  const after = (delayMs: number, action: () => void): Timer =>
    systemClock.after(delayMs, () => (pause.isPaused ? after(20, action) : action()));
  return { ...systemClock, after };
}

/** A start gives up at once where it would wait for another server to end. */
const hastyClock: Clock = { ...systemClock, nowMs: () => 30 * systemClock.nowMs() };

describe.skipIf(whyNoPostgres !== '')(`gateways that share a database${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  let joined: Joined[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterEach(async () => {
    await Promise.all(joined.map(({ leave }) => leave()));
    joined = [];
  });

  afterAll(() => postgres.remove());

  async function join(url: string, number: number, key = KEY): Promise<Joined> {
    const log = createLog('silent');
    const database = await openPostgresRecords(url, { clock: systemClock, log, isShared: true });
    const pause = { isPaused: false };
    const { cluster: metrics } = new Metrics();
    const address = `http://10.0.0.${number}:8080`;
    const place = { id: randomUUID(), name: `machine-${number}`, address, key };
    const cluster = new PostgresCluster({
      ...place,
      url,
      database,
      clock: pausedClock(pause),
      log,
      metrics,
      times: FAST,
    });
    try {
      await cluster.open();
    } catch (error) {
      await cluster.close();
      await database.close();
      throw error;
    }
    const leave = async () => {
      await cluster.close();
      await database.close();
    };
    const member = { number, database, cluster, pause, leave };
    joined.push(member);
    return member;
  }

  const seenBy = ({ cluster }: Joined): string[] =>
    cluster
      .members()
      .map(({ name, state }) => `${name} ${state}`)
      .toSorted();

  it('start at once on an empty database, which is migrated once, and see each other', async () => {
    const url = await postgres.createDatabase();
    const four = await Promise.all([1, 2, 3, 4].map((number) => join(url, number)));
    const metas = four[0]?.database.db.selectFrom('meta').selectAll().where('name', '=', 'cluster:feed-epoch');
    expect(await metas?.execute()).toHaveLength(1);
    four[2]?.cluster.report(() => ({ live: 3, maxCalls: 40, firmLoad: 0.5 }));
    await four[1]?.cluster.setState('draining');
    const expected = ['machine-1 serving', 'machine-2 draining', 'machine-3 serving', 'machine-4 serving'];
    for (const member of four) {
      await expect.poll(() => seenBy(member)).toEqual(expected);
      expect(member.cluster.members()[0]).toMatchObject({ id: member.cluster.id });
      await expect
        .poll(() => member.cluster.members().find(({ name }) => name === 'machine-3'))
        .toMatchObject({ live: 3, maxCalls: 40, firmLoad: 0.5, address: 'http://10.0.0.3:8080' });
    }
  });

  it('declare one dead that is silent, which learns of it, and one that leaves is gone at once', async () => {
    const url = await postgres.createDatabase();
    const [first, second, third] = [await join(url, 1), await join(url, 2), await join(url, 3)];
    let deaths = 0;
    third.cluster.watchDeath(() => deaths++);
    await expect.poll(() => seenBy(first)).toHaveLength(3);
    third.pause.isPaused = true;
    await expect.poll(() => seenBy(first)).toEqual(['machine-1 serving', 'machine-2 serving']);
    await expect.poll(() => seenBy(second)).toHaveLength(2);
    expect(third.cluster.isHeard).toBe(false);
    expect(third.cluster.isDeclaredDead).toBe(false);
    third.pause.isPaused = false;
    await expect.poll(() => third.cluster.isDeclaredDead).toBe(true);
    expect(deaths).toBe(1);
    expect(third.cluster.members()).toEqual([]);
    await second.leave();
    await expect.poll(() => seenBy(first)).toEqual(['machine-1 serving']);
  });

  it('declare nobody dead when the database was away for longer than that', async () => {
    const url = await postgres.createDatabase();
    const three = [await join(url, 1), await join(url, 2), await join(url, 3)];
    await expect.poll(() => three.map((member) => seenBy(member).length)).toEqual([3, 3, 3]);
    await postgres.stop('crash');
    await expect.poll(() => three.map(({ cluster }) => cluster.isHeard)).toEqual([false, false, false]);
    await sleep(systemClock, FAST.dead);
    await postgres.start();
    await expect.poll(() => three.map(({ cluster }) => cluster.isHeard)).toEqual([true, true, true]);
    await expect.poll(() => three.map((member) => seenBy(member).length)).toEqual([3, 3, 3]);
    expect(three.map(({ cluster }) => cluster.isDeclaredDead)).toEqual([false, false, false]);
  });

  it('have one key, which only the first of all can change', async () => {
    const url = await postgres.createDatabase();
    const first = await join(url, 1);
    await expect(join(url, 2, 'another key')).rejects.toThrow(/^CLUSTER_KEY: .*have another one/);
    await join(url, 3);
    const meta = await first.database.db.selectFrom('meta').select('value').execute();
    expect(JSON.stringify(meta)).not.toContain(KEY);
    await Promise.all(joined.map(({ leave }) => leave()));
    const changed = await join(url, 4, 'another key');
    expect(seenBy(changed)).toEqual(['machine-4 serving']);
  });

  it('share their database with no server that is alone, and it not with them', async () => {
    const url = await postgres.createDatabase();
    const options = { clock: hastyClock, log: createLog('silent') };
    const first = await join(url, 1);
    await expect(openPostgresRecords(url, options)).rejects.toThrow(/another server uses this database.*CLUSTER_KEY/);
    await first.leave();
    const alone = await openPostgresRecords(url, options);
    await expect(openPostgresRecords(url, { ...options, isShared: true })).rejects.toThrow(/without CLUSTER_KEY uses/);
    await alone.close();
  });

  it('lead one at a time: another takes the place of one that resigns, and of one that is silent', async () => {
    const url = await postgres.createDatabase();
    const three = [await join(url, 1), await join(url, 2), await join(url, 3)];
    const told: string[] = [];
    const wishes = three.map(({ number, cluster }) =>
      cluster.lead('ari', {
        onLead: () => told.push(`${number} leads`),
        onLost: () => told.push(`${number} lost`),
      }),
    );
    const leaders = () => wishes.flatMap(({ isLeading }, at) => (isLeading ? [three[at]?.number] : []));
    await expect.poll(leaders).toHaveLength(1);
    const [first] = leaders();
    await wishes[(first ?? 0) - 1]?.resign();
    await expect.poll(leaders).toHaveLength(1);
    const [second] = leaders();
    expect(second).not.toBe(first);
    await postgres.stop('crash');
    await postgres.start();
    await expect.poll(() => three.map(({ cluster }) => cluster.isHeard)).toEqual([true, true, true]);
    expect(leaders()).toEqual([second]);
    expect(told).toEqual([`${first} leads`, `${second} leads`]);
    await three[(second ?? 0) - 1]?.leave();
    await expect.poll(leaders).toContainEqual(6 - (first ?? 0) - (second ?? 0));
  });
});
