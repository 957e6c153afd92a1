import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FeedEntry } from '../../../src/calls/feed/feed.ts';
import { readFeedPosition } from '../../../src/calls/feed/feed-position.ts';
import { readRows } from '../../../src/cluster/feed/feed-rows.ts';
import { createClient } from '../../../src/foundation/database/postgres.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../../helpers/postgres.ts';
import { ended, said, started } from '../../records/told-calls.ts';
import { type FeedGateway, openFeedGateway, type TestReader } from './feed-gateways.ts';

describe.skipIf(whyNoPostgres !== '')(`the feed of several gateways${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  const opened: FeedGateway[] = [];

  beforeAll(async () => {
    postgres = await sharedPostgres();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
  });

  async function openThree(history = 200): Promise<[FeedGateway, FeedGateway, FeedGateway]> {
    const url = await postgres.createDatabase();
    const three = await Promise.all([1, 2, 3].map(() => openFeedGateway(url, { history })));
    opened.push(...three);
    return three as [FeedGateway, FeedGateway, FeedGateway];
  }

  const until = (reader: TestReader, count: number) =>
    expect.poll(() => reader.entries.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);

  it('tells readers of each the events of all, in one order and with the same ids', async () => {
    const gateways = await openThree();
    const readers = gateways.map((gateway) => gateway.read());
    for (let n = 1; n <= 50; n++)
      for (const [index, gateway] of gateways.entries()) gateway.publish(said(`CA${index}`, n, `${index}:${n}`));
    for (const reader of readers) await until(reader, 150);
    const [first, ...others] = readers.map(({ entries }) => entries.map(({ id, json }) => `${id} ${json}`));
    expect(new Set(first)).toHaveLength(150);
    for (const other of others) expect(other).toEqual(first);
    for (const index of [0, 1, 2]) {
      const own = readers[0]?.texts().filter((text) => text.startsWith(`${index}:`));
      expect(own).toEqual(Array.from({ length: 50 }, (_, n) => `${index}:${n + 1}`));
    }
  });

  it('says that nothing waits as soon as all is in the table', async () => {
    const [a] = await openThree();
    const reader = a.read();
    const waiting = async (): Promise<unknown> =>
      (await a.metrics.registry.getSingleMetric('trunkline_feed_backlog')?.get())?.values[0]?.value;
    a.publish(said('CA1', 1, 'one'), said('CA1', 2, 'two'), said('CA1', 3, 'three'));
    expect(await waiting()).toBe(3);
    await until(reader, 3);
    await expect.poll(waiting).toBe(0);
  });

  it('gives who follows a gateway its own events alone, at once', async () => {
    const [a, b] = await openThree();
    const own: string[] = [];
    a.feed.subscribeOwn({}, ({ event }) => own.push(event.callId));
    const reader = a.read();
    a.publish(said('CA1', 1, 'mine'));
    expect(own).toEqual(['CA1']);
    b.publish(said('CA2', 1, 'theirs'));
    await until(reader, 2);
    expect(own).toEqual(['CA1']);
  });

  it('stores each event once, with its id in the feed, by the gateway that published it', async () => {
    const [a, b] = await openThree();
    const reader = b.read();
    a.publish(started('CA1'), said('CA1', 1, 'hello'), said('CA1', 2, 'there'));
    b.publish(started('CA2'), said('CA2', 1, 'hi'), ended('CA2'));
    await until(reader, 6);
    await Promise.all([a.records.recorder.settled(), b.records.recorder.settled()]);
    const stored = [
      ...(await a.records.calls.events('CA1', { limit: 10 })),
      ...(await a.records.calls.events('CA2', { limit: 10 })),
    ];
    expect(stored.map(({ id }) => id).toSorted()).toEqual(reader.entries.map(({ id }) => id).toSorted());
    expect((await b.records.calls.row('CA1'))?.gateway).toBe(a.id);
  });

  it('lets a reader go on at another gateway 20 times: nothing is lost, nothing comes twice', async () => {
    const gateways = await openThree(40);
    const witness = gateways[0].read();
    const got: string[] = [];
    let last: string | undefined;
    let isDone = false;
    const calls = gateways.map((_, index) => `CA${index}`);
    for (const [index, gateway] of gateways.entries()) gateway.publish(started(calls[index] ?? ''));
    const publishing = (async () => {
      for (let n = 1; n <= 600; n++) {
        for (const [index, gateway] of gateways.entries()) gateway.publish(said(`CA${index}`, n, `${index}:${n}`));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      isDone = true;
    })();
    await until(witness, 1);
    last = witness.entries[0]?.id;
    for (let cut = 0; cut < 20; cut++) {
      const reader = (gateways[cut % 3] ?? gateways[0]).read(last);
      await until(reader, cut === 19 ? 1 : 20 + cut);
      if (cut === 19) {
        await publishing;
        await expect
          .poll(() => reader.texts().filter((text) => text.endsWith(':600')).length, { timeout: 20_000 })
          .toBe(3);
      }
      reader.cut();
      got.push(...reader.entries.map(({ id }) => id));
      expect(reader.missing).toEqual([]);
      last = reader.last() ?? last;
    }
    expect(isDone).toBe(true);
    await until(witness, got.length + 1);
    const all = witness.entries.slice(1).map(({ id }) => id);
    expect(got).toEqual(all);
    expect(all.length).toBeGreaterThan(1800);
  });

  it('has readers with 50 quick reconnects miss nothing', async () => {
    const [a, b, c] = await openThree(500);
    const witness = c.read();
    a.publish(started('CA1'));
    await until(witness, 1);
    let last = witness.entries[0]?.id;
    const got: string[] = [];
    for (let n = 1; n <= 50; n++) {
      (n % 2 === 0 ? a : b).publish(said('CA1', n, `${n}`));
      const reader = (n % 3 === 0 ? a : c).read(last);
      reader.cut();
      got.push(...reader.entries.map(({ id }) => id));
      last = reader.last() ?? last;
    }
    await until(witness, 51);
    const end = b.read(last);
    await until(end, 51 - 1 - got.length);
    got.push(...end.entries.map(({ id }) => id));
    expect(got).toEqual(witness.entries.slice(1).map(({ id }) => id));
  });

  it('serves a reader that was away for long from the records, by number, although several wrote them', async () => {
    const gateways = await openThree(10);
    const witness = gateways[0].read();
    for (const [index, gateway] of gateways.entries()) gateway.publish(started(`CA${index}`));
    await until(witness, 3);
    const from = witness.entries[0]?.id;
    for (let n = 1; n <= 200; n++)
      for (const [index, gateway] of gateways.entries()) gateway.publish(said(`CA${index}`, n, `${index}:${n}`));
    await until(witness, 603);
    await Promise.all(gateways.map(({ records }) => records.recorder.settled()));
    const { db } = gateways[0].records.database;
    await db.deleteFrom('feed' as never).execute();
    const late = gateways[1].read(from);
    await until(late, 602);
    expect(late.entries.map(({ id }) => id)).toEqual(witness.entries.slice(1).map(({ id }) => id));
  });

  it('tells a reader of more events than a restored database has, and goes on from now', async () => {
    const url = await postgres.createDatabase();
    const before = await openFeedGateway(url);
    const witness = before.read();
    for (let n = 1; n <= 20; n++) before.publish(said('CA1', n, `${n}`));
    await until(witness, 20);
    const [backedUp, last] = [witness.entries[4]?.id, witness.last()];
    await before.records.recorder.settled();
    const { db } = before.records.database;
    const number = readFeedPosition(backedUp ?? '')?.number;
    await sql`DELETE FROM feed WHERE number > ${number}`.execute(db);
    await sql`SELECT setval('feed_number', ${number})`.execute(db);
    await before.close();
    const after = await openFeedGateway(url);
    opened.push(after);
    const [behind, ahead] = [after.read(backedUp), after.read(last)];
    await expect.poll(() => ahead.missing).toEqual([last]);
    after.publish(said('CA2', 1, 'new'));
    await until(ahead, 1);
    await until(behind, 1);
    expect(ahead.texts()).toEqual(['new']);
    expect(behind.missing).toEqual([]);
  });

  it('says nothing to a reader that has more than its gateway has read: it gets what comes', async () => {
    const [a, b] = await openThree();
    const reader = a.read();
    for (let n = 1; n <= 20; n++) {
      a.publish(said('CA1', n, `${n}`));
      await until(reader, 2 * n - 1);
      const other = b.read(reader.last());
      a.publish(said('CA1', n, `${n}!`));
      await until(other, 1);
      expect([other.texts()[0], other.missing]).toEqual([`${n}!`, []]);
      await until(reader, 2 * n);
    }
  });

  it('reads what others told in parts of bounded size, and all of it', async () => {
    const url = await postgres.createDatabase();
    const [a, b] = await Promise.all([openFeedGateway(url), openFeedGateway(url)]);
    opened.push(a, b);
    const reader = b.read();
    const texts = Array.from({ length: 30 }, (_, n) => `${n}`.padEnd(300_000, 'x'));
    a.publish(...texts.map((text, n) => said('CA1', n + 1, text)));
    await until(reader, 30);
    expect(reader.texts()).toEqual(texts);
    const client = createClient(url);
    await client.connect();
    const parts: number[] = [];
    const bounds = { rowsMax: 10, bytesMax: 1_500_000 };
    for (let after = 0, isDone = false; !isDone; ) {
      const { rows, isLast } = await readRows(client, { gateway: b.id, after, ...bounds });
      parts.push(rows.length);
      after = rows.at(-1)?.number ?? after;
      isDone = isLast;
    }
    const own = await readRows(client, { gateway: a.id, after: 0, ...bounds });
    const least = await readRows(client, { gateway: b.id, after: 0, rowsMax: 10, bytesMax: 1 });
    await client.end();
    // A caption has its text twice.
    expect(parts).toEqual(Array(10).fill(3));
    expect([own.rows.length, own.isLast]).toEqual([10, false]);
    expect([least.rows.length, least.isLast]).toEqual([1, false]);
  });

  it('tells one call alone, and its transcript, on any gateway', async () => {
    const [a, b] = await openThree();
    const reader = b.read('start', 'CA1');
    a.publish(started('CA1'), started('CA9'), said('CA9', 1, 'other'), said('CA1', 1, 'hello'));
    await until(reader, 2);
    expect(reader.entries.map(({ event }) => event.callId)).toEqual(['CA1', 'CA1']);
    await a.records.recorder.settled();
    const again = b.read('start', 'CA1');
    await until(again, 2);
    expect(again.texts()).toEqual(['hello']);
  });

  it('forgets a deleted call on all gateways', async () => {
    const [a, b] = await openThree();
    const reader = b.read();
    a.publish(started('CA1'), said('CA1', 1, 'secret'));
    await until(reader, 2);
    await a.records.recorder.settled();
    a.feed.forget('CA1');
    a.publish({ type: 'call.deleted', callId: 'CA1' }, said('CA2', 1, 'after'));
    await until(reader, 4);
    const { db } = a.records.database;
    await expect
      .poll(async () =>
        (
          await db
            .selectFrom('feed' as never)
            .selectAll()
            .execute()
        ).map((row) => (row as { call_id: string }).call_id),
      )
      .toEqual(['CA1', 'CA2']);
    const late = b.read(reader.entries[0]?.id, 'CA1');
    await until(late, 1);
    expect(late.entries.map(({ event }) => event.type)).toEqual(['call.deleted']);
  });

  it('has nothing of a call that another gateway deletes, whatever was on its way', async () => {
    const [a, b, c] = await openThree();
    const readers = [a, b, c].map((gateway) => gateway.read());
    a.publish(started('CA1'), said('CA1', 1, 'secret one'), ended('CA1'));
    for (const reader of readers) await until(reader, 3);
    await a.records.recorder.settled();
    // In one moment, so that what A tells is on its way when B has forgotten.
    a.publish(said('CA1', 2, 'secret two'));
    b.feed.forget('CA1');
    b.publish({ type: 'call.deleted', callId: 'CA1' });
    a.publish(said('CA1', 3, 'secret three'), said('CA2', 1, 'after'));
    const tellsOf = (type: string, callId: string) => (entry: FeedEntry) =>
      entry.event.type === type && entry.event.callId === callId;
    for (const { entries } of readers)
      await expect
        .poll(() => entries.some(tellsOf('call.deleted', 'CA1')) && entries.some(tellsOf('caption', 'CA2')))
        .toBe(true);
    const { db } = a.records.database;
    const inTable = async () => {
      const rows = await db
        .selectFrom('feed' as never)
        .selectAll()
        .execute();
      return JSON.stringify(rows).includes('secret');
    };
    await expect.poll(inTable).toBe(false);
    for (const gateway of [a, b, c]) {
      const texts: string[] = [];
      gateway.feed.subscribe({ after: 'x' }, ({ json }) => void texts.push(json));
      expect(texts.filter((text) => text.includes('secret'))).toEqual([]);
    }
  });

  it('takes nothing more of a gateway that was declared dead', async () => {
    const [a, b] = await openThree();
    const reader = b.read();
    const { db } = b.records.database;
    await db
      .insertInto('gateways' as never)
      .values({
        id: a.id,
        name: 'a',
        address: '',
        state: 'ended',
        live: 0,
        max_calls: 0,
        firm_load: 0,
        started_ms: 0,
        seen_ms: 0,
      } as never)
      .execute();
    a.publish(said('CA1', 1, 'from the grave'));
    b.publish(said('CA2', 1, 'alive'));
    await until(reader, 1);
    a.publish(said('CA1', 2, 'again'));
    b.publish(said('CA2', 2, 'still'));
    await until(reader, 2);
    expect(reader.texts()).toEqual(['alive', 'still']);
  });
});
