/** Readers of the feed that come back to a gateway that was started again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedEntry, FeedFilter } from '../../src/calls/feed/feed.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { FeedReaders, type FeedSink } from '../../src/http/calls/readers.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { DATABASES, type TestDatabases } from './databases.ts';
import { ended, openToldGateway, said, started, type ToldGateway } from './told-calls.ts';

const isStored = ({ event }: FeedEntry): boolean => event.type !== 'caption' || event.final;

/** A gateway on `database`, and all that it has told. */
function openGateway(database: RecordsDatabase) {
  const gateway = openToldGateway(database, { history: 50 });
  const told: FeedEntry[] = [];
  gateway.feed.subscribe({}, (entry) => told.push(entry));
  const readers = new FeedReaders({
    feed: gateway.feed,
    archive: gateway.records.calls,
    clock: systemClock,
    log: createLog('silent'),
    metrics: new Metrics(),
    readersMax: 100,
    bufferMaxBytes: 1_000_000,
  });
  return { ...gateway, told, readers };
}

/** Takes what a reader gets; `slow` = it is sent only in a later turn of the event loop. */
function collector(slow: boolean): { readonly sink: FeedSink; readonly got: FeedEntry[] } {
  const got: FeedEntry[] = [];
  let unsentBytes = 0;
  const sink: FeedSink = {
    kind: 'websocket',
    get unsentBytes() {
      return unsentBytes;
    },
    write: (entry, sent) => {
      got.push(entry);
      if (!slow) return sent();
      unsentBytes += 40_000;
      setTimeout(() => {
        unsentBytes -= 40_000;
        sent();
      }, 1);
    },
    beat: () => undefined,
    tellMissing: () => expect.fail('a reader was told that events are missing'),
    tellNotice: () => undefined,
    cut: () => expect.fail('a reader was cut'),
    close: () => undefined,
  };
  return { sink, got };
}

function talk(gateway: ToldGateway, call: string, random: () => number, events: number): void {
  gateway.feed.publish(started(call));
  for (let i = 1; i <= events; i++) {
    const final = random() < 0.6;
    gateway.feed.publish(said(call, i, `word ${i}`, { final }));
  }
}

describe.each(DATABASES.filter(({ isThere }) => isThere))('the feed after a restart, from $name', ({ start }) => {
  let databases: TestDatabases;
  beforeAll(() => {
    databases = start();
  });
  afterAll(() => databases.end());

  it.each([1, 2, 3, 4, 5, 6])('gives every event once and in order, whatever id a reader has (%d)', async (seed) => {
    const random = seededRandom(seed);
    const database = await databases.open();
    const before = openGateway(database);
    for (const call of ['CA1', 'CA2']) talk(before, call, random, 60);
    await before.tell(ended('CA1'));
    await before.records.recorder.close();

    const after = openGateway(database);
    await after.records.recover(after.feed);
    talk(after, 'CA3', random, 5);
    const all = (): FeedEntry[] => [...before.told, ...after.told];
    const froms = Array.from({ length: 8 }, () => all()[Math.floor(random() * all().length)]);
    const filters = froms.map((entry): FeedFilter => {
      const callId = random() < 0.4 ? (['CA1', 'CA2', 'CA3'][Math.floor(random() * 3)] ?? 'CA1') : undefined;
      return { after: entry?.id ?? '', ...(callId !== undefined && { callId }) };
    });
    const readings = filters.map((filter) => ({ filter, ...collector(random() < 0.5) }));
    for (const { filter, sink } of readings) {
      after.readers.open(filter, sink);
      // Live events go on while they catch up, more than memory holds.
      talk(after, `CA${10 + Math.floor(random() * 90)}x${random()}`, random, 20);
      await new Promise((resolve) => setTimeout(resolve, random() * 15));
    }
    await after.tell(ended('CA3'));
    const last = after.told.at(-1)?.id;
    for (const { filter, got } of readings) {
      if (filter.callId === undefined) await expect.poll(() => got.at(-1)?.id).toBe(last);
      const index = all().findIndex(({ id }) => id === filter.after);
      const due = all()
        .slice(index + 1)
        .filter((entry) => isStored(entry) && (filter.callId === undefined || entry.event.callId === filter.callId));
      const ids = () => got.filter(isStored).map(({ id }) => id);
      await expect.poll(() => ids().length).toBeGreaterThanOrEqual(due.length);
      expect(ids()).toEqual(due.map(({ id }) => id));
      expect(new Set(got.map(({ id }) => id)).size).toBe(got.length);
    }
    after.readers.close();
    await after.records.recorder.close();
  });

  it.each([
    '',
    'nonsense',
    '-1',
    'e-0',
    '00000000-0000-4000-8000-000000000000-7',
    `x-${'9'.repeat(15)}`,
    '%00',
    "'; --",
  ])('gives what memory holds after the id %j, which is none of ours', async (id) => {
    const database = await databases.open();
    const before = openGateway(database);
    talk(before, 'CA1', () => 0, 5);
    await before.records.recorder.close();
    const gateway = openGateway(database);
    talk(gateway, 'CA2', () => 0, 5);
    const { sink, got } = collector(false);
    gateway.readers.open({ after: id }, sink);
    await expect.poll(() => got.map((entry) => entry.id)).toEqual(gateway.told.map((entry) => entry.id));
    gateway.feed.publish(ended('CA2'));
    expect(got).toHaveLength(7);
    gateway.readers.close();
    await gateway.records.recorder.close();
  });

  it('gives what memory holds after an id of the future', async () => {
    const gateway = openGateway(await databases.open());
    talk(gateway, 'CA2', () => 0, 5);
    const { sink, got } = collector(false);
    gateway.readers.open({ after: `${gateway.feed.epoch}-1000000` }, sink);
    await expect.poll(() => got.map(({ id }) => id)).toEqual(gateway.told.map(({ id }) => id));
    gateway.readers.close();
    await gateway.records.recorder.close();
  });
});
