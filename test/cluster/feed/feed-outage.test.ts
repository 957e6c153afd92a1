import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../../helpers/postgres.ts';
import { type PostgresProxy, startPostgresProxy } from '../../helpers/postgres-proxy.ts';
import { said, started } from '../../records/told-calls.ts';
import { type FeedGateway, hurried, openFeedGateway, type TestReader } from './feed-gateways.ts';

const POLL = { timeout: 70_000 };

describe.skipIf(whyNoPostgres !== '')(`the feed of several gateways, in trouble${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  const opened: FeedGateway[] = [];
  const proxies: PostgresProxy[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  });
  afterAll(() => postgres.remove());

  /** Two gateways; what the first has of the database can be cut. Its waits are `times` shorter. */
  async function openPair(
    history = 200,
    times = 20,
    timesOfOther = 1,
  ): Promise<{ x: FeedGateway; y: FeedGateway; proxy: PostgresProxy }> {
    const url = await postgres.createDatabase();
    const proxy = await startPostgresProxy(url);
    proxies.push(proxy);
    const x = await openFeedGateway(proxy.url, { history, clock: hurried(times) });
    const y = await openFeedGateway(url, { history, clock: hurried(timesOfOther) });
    opened.push(x, y);
    return { x, y, proxy };
  }

  const until = (reader: TestReader, count: number) =>
    expect.poll(() => reader.entries.length, POLL).toBeGreaterThanOrEqual(count);
  const untilTold = (reader: TestReader, type: string) =>
    expect.poll(() => reader.notices.map((notice) => notice.type), POLL).toContain(type);

  it('shows own calls after a wait while the database is away; when it is back, nobody gets any twice', async () => {
    const { x, y, proxy } = await openPair();
    const [atX, atY] = [x.read(), y.read()];
    x.publish(started('CAx'), said('CAx', 1, 'x1'));
    y.publish(started('CAy'), said('CAy', 1, 'y1'));
    await Promise.all([until(atX, 4), until(atY, 4)]);
    proxy.cut();
    x.publish(said('CAx', 2, 'x2'), said('CAx', 3, 'x3'));
    expect(atX.entries).toHaveLength(4);
    y.publish(said('CAy', 2, 'y2'));
    await untilTold(atX, 'feed.degraded');
    expect(x.exchange.trouble).toContain('events wait');
    await until(atX, 6);
    x.publish(said('CAx', 4, 'x4'));
    expect(atX.texts()).toEqual([...atX.texts().slice(0, 2), 'x2', 'x3', 'x4']);
    const late = x.read();
    expect(late.notices.map(({ type }) => type)).toEqual(['feed.degraded']);
    await expect.poll(() => atY.texts(), POLL).toContain('y2');
    expect(atY.texts()).not.toContain('x2');
    proxy.mend();
    await untilTold(atX, 'feed.restored');
    expect(x.exchange.trouble).toBeNull();
    expect(new Set(atX.notices.map(({ since }) => since))).toHaveLength(1);
    x.publish(said('CAx', 5, 'x5'));
    y.publish(said('CAy', 3, 'y3'));
    const all = ['x1', 'y1', 'x2', 'x3', 'x4', 'y2', 'x5', 'y3'].toSorted();
    await Promise.all([until(atX, 10), until(atY, 10)]);
    expect(atX.texts().toSorted()).toEqual(all);
    expect(atY.texts().toSorted()).toEqual(all);
    expect(atY.texts().filter((text) => text.startsWith('x'))).toEqual(['x1', 'x2', 'x3', 'x4', 'x5']);
    await x.records.recorder.settled();
    expect((await y.records.calls.get('CAx'))?.counts.finals ?? 0).toBe(5);
    expect((await y.records.calls.events('CAx', { limit: 20 })).map(({ id }) => id)).toEqual(
      atY.entries.filter(({ event }) => event.callId === 'CAx').map(({ id }) => id),
    );
  });

  it('knows ids that were given out while it was away, on any gateway', async () => {
    const { x, y, proxy } = await openPair();
    const atX = x.read();
    x.publish(started('CAx'));
    y.publish(started('CAy'));
    await until(atX, 2);
    proxy.cut();
    for (let n = 1; n <= 6; n++) x.publish(said('CAx', n, `x${n}`));
    await until(atX, 8);
    const middle = atX.entries[4]?.id ?? '';
    expect(middle).toContain(`~${x.id}-`);
    for (let n = 1; n <= 6; n++) y.publish(said('CAy', n, `y${n}`));
    proxy.mend();
    await untilTold(atX, 'feed.restored');
    await until(atX, 14);
    const rest = ['x4', 'x5', 'x6', 'y1', 'y2', 'y3', 'y4', 'y5', 'y6'];
    for (const gateway of [x, y]) {
      const reader = gateway.read(middle);
      await until(reader, rest.length);
      expect(reader.texts().toSorted()).toEqual(rest);
    }
    // Step by step, from gateway to gateway.
    let last = middle;
    const got: string[] = [];
    for (let step = 0; step < rest.length; step++) {
      const reader = (step % 2 === 0 ? y : x).read(last);
      await until(reader, 1);
      reader.cut();
      const [entry] = reader.entries;
      got.push(...reader.texts().slice(0, 1));
      last = entry?.id ?? last;
    }
    expect(got.toSorted()).toEqual(rest);
  });

  it('does not need notifications', async () => {
    const { x, y, proxy } = await openPair();
    const atX = x.read();
    proxy.notifies = false;
    for (let n = 1; n <= 20; n++) y.publish(said('CAy', n, `${n}`));
    await until(atX, 20);
    expect(atX.texts()).toEqual(Array.from({ length: 20 }, (_, n) => `${n + 1}`));
  });

  it('refuses a pooler in transaction mode at the start, and says so', async () => {
    const url = await postgres.createDatabase();
    const proxy = await startPostgresProxy(url);
    proxies.push(proxy);
    proxy.notifies = false;
    await expect(openFeedGateway(url, { directUrl: proxy.url, clock: hurried(20) })).rejects.toThrow(
      /DATABASE_DIRECT_URL: notifications of the database do not come through.*transaction mode/,
    );
  });

  it('goes on when a server that does not answer is back', async () => {
    const { x, y, proxy } = await openPair();
    const [atX, atY] = [x.read(), y.read()];
    x.publish(said('CAx', 1, 'x1'));
    await until(atY, 1);
    proxy.hold();
    x.publish(said('CAx', 2, 'x2'));
    await untilTold(atX, 'feed.degraded');
    expect(atX.texts()).toEqual(['x1', 'x2']);
    proxy.mend();
    await until(atY, 2);
    await untilTold(atX, 'feed.restored');
    expect(atX.texts()).toEqual(['x1', 'x2']);
  });

  it('loses nothing and repeats nothing when the server crashes and has forgotten the table', async () => {
    const { x, y } = await openPair(1000, 1);
    const [atX, atY] = [x.read(), y.read()];
    x.publish(started('CAx'));
    y.publish(started('CAy'));
    await Promise.all([until(atX, 2), until(atY, 2)]);
    const publish = (from: number, to: number): void => {
      for (let n = from; n <= to; n++) {
        x.publish(said('CAx', n, `x${n}`));
        y.publish(said('CAy', n, `y${n}`));
      }
    };
    publish(1, 40);
    await Promise.all([until(atX, 20), until(atY, 20)]);
    publish(41, 80);
    await postgres.stop('crash');
    publish(81, 120);
    await postgres.start();
    publish(121, 160);
    const all = Array.from({ length: 160 }, (_, n) => [`x${n + 1}`, `y${n + 1}`])
      .flat()
      .toSorted();
    await Promise.all([until(atX, 322), until(atY, 322)]);
    expect(atX.texts().toSorted()).toEqual(all);
    expect(atY.texts().toSorted()).toEqual(all);
    await Promise.all([x.records.recorder.settled(), y.records.recorder.settled()]);
    expect((await x.records.calls.get('CAy'))?.counts.finals).toBe(160);
    expect((await y.records.calls.get('CAx'))?.counts.finals).toBe(160);
    const ids = [
      ...(await x.records.calls.events('CAx', { limit: 500 })),
      ...(await x.records.calls.events('CAy', { limit: 500 })),
    ].map(({ id }) => id);
    expect(new Set(ids)).toHaveLength(322);
    // A reader that had only the first two goes on where it was, on either.
    for (const gateway of [x, y]) {
      const reader = gateway.read(atX.entries[1]?.id);
      await until(reader, 320);
      expect(reader.texts().toSorted()).toEqual(all);
    }
  }, 120_000);

  it('gives no number twice, although the last moments of the sequence may be lost in a crash', async () => {
    const { x, y } = await openPair(100, 20, 20);
    const atY = y.read();
    const numbers = (): number[] => atY.entries.map(({ id }) => Number(id.split('-').at(-1)));
    for (let round = 1; round <= 3; round++) {
      for (let n = 1; n <= 50; n++) x.publish(said('CAx', n, `${round}:${n}`));
      await until(atY, round * 50);
      await postgres.stop('crash');
      await postgres.start();
    }
    expect(numbers()).toEqual(numbers().toSorted((a, b) => a - b));
    expect(new Set(numbers())).toHaveLength(150);
  }, 120_000);

  it('refuses new calls when too many events wait, leaves out what nobody waits for, and blocks nothing', async () => {
    const proxy = await startPostgresProxy(await postgres.createDatabase());
    proxies.push(proxy);
    const x = await openFeedGateway(proxy.url, { clock: hurried(20) });
    opened.push(x);
    const atX = x.read();
    x.publish(started('CAx'));
    await until(atX, 1);
    proxy.cut();
    x.publish(said('CAx', 1, 'first'));
    await untilTold(atX, 'feed.degraded');
    for (let n = 0; n < 20_000; n++) x.publish(said('CAx', 2, 'partial', { final: false }));
    expect(x.exchange.backlog).toBeLessThan(12_000);
    for (let n = 0; n < 41_000; n++) x.publish({ type: 'dtmf', callId: 'CAx', digit: '1', atMs: n });
    expect(x.feed.isFull).toBe(true);
    for (let n = 0; n < 12_000; n++) x.publish({ type: 'dtmf', callId: 'CAx', digit: '2', atMs: n });
    expect(x.exchange.backlog).toBe(50_000);
    proxy.mend();
    await untilTold(atX, 'feed.restored');
    expect(x.feed.isFull).toBe(false);
    expect(atX.entries.filter(({ event }) => event.type === 'dtmf' && event.digit === '1')).toHaveLength(41_000);
  });
});
