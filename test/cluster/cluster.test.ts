import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Return } from '../../src/cluster/cluster.ts';
import { type ClusterTimes, PostgresCluster } from '../../src/cluster/postgres-cluster.ts';
import { type Clock, sleep, systemClock, type Timer } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { startPostgresProxy } from '../helpers/postgres-proxy.ts';
import { addCall } from '../helpers/record-rows.ts';

/** A tenth of the usual ones, but for what depends on the machine. */
const FAST: ClusterTimes = {
  heartbeat: 200,
  retry: 50,
  suspect: 600,
  dead: 1500,
  starting: 6000,
  grace: 750,
  silentLeader: 700,
};

const KEY = 'the key of all';

interface Joined {
  readonly number: number;
  readonly database: RecordsDatabase;
  readonly cluster: PostgresCluster;
  /** Heartbeats come, or do not, as if the process stood still. */
  readonly pause: { isPaused: boolean };
  /** What it was told when it came back. */
  readonly returns: Return[];
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
  /** The numbers of those that the others reach at their addresses. */
  const reachable = new Set<number>();

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterEach(async () => {
    await Promise.all(joined.map(({ leave }) => leave()));
    joined = [];
    reachable.clear();
  });

  afterAll(() => postgres.remove());

  function clusterAt(url: string, number: number, database: RecordsDatabase, key = KEY, clock = systemClock) {
    const place = { id: randomUUID(), name: `machine-${number}`, address: `http://10.0.0.${number}:8080`, key };
    return new PostgresCluster({
      ...place,
      url,
      database,
      probe: async (member) => reachable.has(Number(/\d+(?=:8080)/.exec(member.address)?.[0])),
      clock,
      log: createLog('silent'),
      metrics: new Metrics().cluster,
      times: FAST,
    });
  }

  async function join(url: string, number: number, key = KEY): Promise<Joined> {
    const log = createLog('silent');
    const database = await openPostgresRecords(url, { clock: systemClock, log, isShared: true });
    const pause = { isPaused: false };
    const cluster = clusterAt(url, number, database, key, pausedClock(pause));
    const returns: Return[] = [];
    cluster.returner = { held: () => [`call-of-${number}`], resume: (back) => void returns.push(back) };
    try {
      await cluster.open();
    } catch (error) {
      await cluster.close();
      await database.close();
      throw error;
    }
    await cluster.setState('serving');
    const leave = async () => {
      await cluster.close();
      await database.close();
    };
    const member = { number, database, cluster, pause, returns, leave };
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

  it('declare one dead that is silent and does not answer; it comes back in another term', async () => {
    const url = await postgres.createDatabase();
    const [first, second, third] = [await join(url, 1), await join(url, 2), await join(url, 3)];
    await addCall(first.database.db, 1, [], { id: 'call-of-3', state: 'live', gateway: third.cluster.id });
    first.cluster.onOrphans = async () => {
      const taken = { gateway: first.cluster.id, state: 'ended', end_reason: 'server_lost' } as const;
      await first.database.db.updateTable('calls').set(taken).where('id', '=', 'call-of-3').execute();
    };
    await expect.poll(() => seenBy(first)).toHaveLength(3);
    third.pause.isPaused = true;
    await expect.poll(() => seenBy(first)).toEqual(['machine-1 serving', 'machine-2 serving']);
    await expect.poll(() => seenBy(second)).toHaveLength(2);
    expect(third.cluster.isHeard).toBe(false);
    const owner = () => first.database.db.selectFrom('calls').select(['gateway', 'state']).executeTakeFirst();
    await expect.poll(owner).toEqual({ gateway: first.cluster.id, state: 'ended' });
    expect(third.returns).toEqual([]);
    third.pause.isPaused = false;
    await expect.poll(() => third.returns).toHaveLength(1);
    expect(third.returns[0]).toMatchObject({ term: 2, ended: ['call-of-3'], stored: new Set(['call-of-3']) });
    await expect.poll(() => third.cluster.isHeard).toBe(true);
    expect(await owner()).toMatchObject({ gateway: third.cluster.id });
    await expect.poll(() => seenBy(first)).toHaveLength(3);
  });

  it('say of one that is silent and answers at its address that it lives, so that nobody declares it dead', async () => {
    const url = await postgres.createDatabase();
    const [first, second, third] = [await join(url, 1), await join(url, 2), await join(url, 3)];
    await expect.poll(() => seenBy(first)).toHaveLength(3);
    reachable.add(3);
    third.pause.isPaused = true;
    const silentMs = async (): Promise<number> => {
      const row = await first.database.db
        .selectFrom('gateways')
        .selectAll()
        .where('id', '=', third.cluster.id)
        .execute();
      return Date.now() - (row[0]?.seen_ms ?? 0);
    };
    for (const endMs = Date.now() + 2.5 * FAST.dead; Date.now() < endMs; await sleep(systemClock, 50))
      expect(await silentMs()).toBeLessThan(FAST.dead);
    expect(third.cluster.isHeard).toBe(false);
    for (const member of [first, second]) expect(seenBy(member)).toHaveLength(3);
    reachable.delete(3);
    await expect.poll(() => seenBy(first)).toEqual(['machine-1 serving', 'machine-2 serving']);
    third.pause.isPaused = false;
    await expect.poll(() => third.returns).toHaveLength(1);
  });

  it('wait longer for one that starts: it may be starved, and nothing answers there yet', async () => {
    const url = await postgres.createDatabase();
    const [first, second] = [await join(url, 1), await join(url, 2)];
    await first.database.db.updateTable('gateways').set({ state: 'starting' }).execute();
    second.pause.isPaused = true;
    await second.database.db.updateTable('gateways').set({ state: 'starting' }).execute();
    await sleep(systemClock, 2 * FAST.dead);
    expect(seenBy(first)).toEqual(['machine-1 serving', 'machine-2 starting']);
    await expect.poll(() => seenBy(first), { timeout: 2 * FAST.starting }).toEqual(['machine-1 serving']);
  });

  it('see one that leaves go at once', async () => {
    const url = await postgres.createDatabase();
    const [first, second] = [await join(url, 1), await join(url, 2)];
    await expect.poll(() => seenBy(first)).toHaveLength(2);
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
    expect(three.map(({ returns }) => returns.length)).toEqual([0, 0, 0]);
  });

  it('join when others that join, and a database that does not answer, take their time', async () => {
    const url = await postgres.createDatabase();
    const first = await join(url, 1);
    const proxy = await startPostgresProxy(url);
    const joinLock = sql.lit(7_214_380_063);
    const busy = first.database.db.transaction().execute(async (transaction) => {
      await sql`SELECT pg_advisory_xact_lock(${joinLock})`.execute(transaction);
      await sleep(systemClock, 2500);
    });
    const second = join(url, 2);
    await busy;
    expect(seenBy(await second)).toContain('machine-2 serving');
    const database = await openPostgresRecords(url, { clock: systemClock, log: createLog('silent'), isShared: true });
    proxy.cut();
    const third = clusterAt(proxy.url, 3, database);
    const opened = third.open();
    await sleep(systemClock, 300);
    proxy.mend();
    await opened;
    expect(third.members()).toHaveLength(3);
    await third.close();
    await database.close();
    await proxy.close();
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
