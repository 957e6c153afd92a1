import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { Feed } from '../../src/calls/feed/feed.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { CallTally } from '../../src/records/call-tally.ts';
import { reportOf } from '../../src/records/database-report.ts';
import { Records } from '../../src/records/records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { KEPT_AS_IT_IS } from '../helpers/kept-as-it-is.ts';
import { DATABASES } from './databases.ts';
import { ended, openToldGateway, said, spoke, started } from './told-calls.ts';

describe.each(DATABASES)('records in $name', ({ isThere, start }) => {
  const databases = start();
  afterAll(() => databases.end());
  const run = it.runIf(isThere);

  run('that other gateways write too get nothing before those know of this one', async () => {
    const database = await databases.open();
    const lines: string[] = [];
    const log = createLog('warn', { write: (line: string) => void lines.push(line) });
    const parts = { database, folder: null, clock: systemClock, log, metrics: new Metrics() };
    const records = new Records({ ...KEPT_AS_IT_IS, ...parts, isShared: true });
    const feed = new Feed({ history: 10, epoch: 'now' });
    records.follow(feed, { get: () => undefined, parameters: () => undefined });
    feed.publish(started('CA1'));
    await expect.poll(() => lines.length).toBe(1);
    expect(await records.calls.get('CA1')).toBeUndefined();
    records.share(
      () => true,
      feed,
      () => [],
    );
    await records.recorder.settled();
    expect(await records.calls.get('CA1')).toBeDefined();
    await records.close();
  });

  run('keep what a SIP trunk answered to a call that it did not take', async () => {
    const { tell, records } = openToldGateway(await databases.open());
    const sip = { status: 404, reason: 'Not Found' };
    await tell(started('CA1'), { ...ended('CA1'), sip }, started('CA2'), ended('CA2'));
    expect([(await records.calls.get('CA1'))?.sip, (await records.calls.get('CA2'))?.sip]).toEqual([sip, null]);
  });

  run('have a row, all events and all texts of a call', async () => {
    const database = await databases.open();
    const { tell, records, feed } = openToldGateway(database, { parameters: { CA1: { retain: '2', agent: 'eve' } } });
    await tell(
      started('CA1', { agent: 'eve', queue: 'sales' }),
      { type: 'speech.started', callId: 'CA1', track: 'inbound', atMs: 900 },
      said('CA1', 1, 'I lost my', { final: false, tail: 'my' }),
      said('CA1', 1, 'I lost my card.', { lagMs: 310.4 }),
      spoke('CA1', 's1', 'One moment please.', 2000),
      { type: 'dtmf', callId: 'CA1', digit: '1', atMs: 3000 },
      { type: 'gap', callId: 'CA1', track: 'inbound', startMs: 3000, endMs: 4000, reason: 'media' },
      ended('CA1'),
    );
    expect(await records.calls.get('CA1')).toMatchObject({
      id: 'CA1',
      from: '+15550100',
      names: { inbound: 'Ada', outbound: null },
      agent: 'eve',
      queue: 'sales',
      state: 'ended',
      endReason: 'hangup',
      durationMs: 5000,
      worstLagMs: 310,
      counts: { finals: 1, spoken: 1, keys: 1, gaps: 1 },
      tags: [],
    });
    const events = await records.calls.events('CA1', { limit: 100 });
    expect(events.map(({ event }) => event.type)).toEqual([
      'call.started',
      'caption',
      'spoken',
      'dtmf',
      'gap',
      'call.ended',
    ]);
    expect(events.map(({ id }) => id)).toEqual([1, 4, 5, 6, 7, 8].map((number) => `${feed.epoch}-${number}`));
    expect(JSON.parse(events[1]?.json ?? '')).toEqual(events[1]?.event);
    const texts = await database.reader.selectFrom('texts').select(['kind', 'track', 'text']).orderBy('id').execute();
    expect(texts).toEqual([
      { kind: 'caption', track: 'inbound', text: 'I lost my card.' },
      { kind: 'spoken', track: 'outbound', text: 'One moment please.' },
    ]);
    const row = await records.calls.row('CA1');
    expect(row?.parameters).toBe('{"retain":"2","agent":"eve"}');
    expect(row?.keep_until_ms).toBe((row?.ended_ms ?? 0) + 2 * 86_400_000);
  });

  run('are found by the latest version of a text alone', async () => {
    const database = await databases.open();
    const { tell } = openToldGateway(database);
    const revision = { type: 'revision', callId: 'CA1', track: 'inbound', startMs: 1000, endMs: 1800 } as const;
    await tell(started('CA1'), said('CA1', 1, 'the cat sad down'), said('CA1', 2, 'noise'), said('CA1', 3, ''));
    expect(await search(database, 'sad')).toBe(1);
    await tell({ ...revision, utterance: 1, version: 2, text: 'the cat sat down' });
    await tell({ ...revision, utterance: 2, version: 2, text: '' });
    await tell({ ...revision, utterance: 1, version: 3, text: 'the cat sat down.' });
    expect(await search(database, 'sad')).toBe(0);
    expect(await search(database, 'noise')).toBe(0);
    expect(await search(database, 'sat')).toBe(1);
    // What the recogniser said of an utterance before it was out in an earlier write does not come back.
    await tell(
      { ...revision, utterance: 4, version: 3, text: 'newest' },
      { ...revision, utterance: 4, version: 2, text: 'older' },
    );
    expect(await database.reader.selectFrom('texts').select(['text', 'version']).orderBy('id').execute()).toEqual([
      { text: 'the cat sat down.', version: 3 },
      { text: '', version: 2 },
      { text: 'newest', version: 3 },
    ]);
  });

  run('take notes and tags of live calls and of those that ended long ago', async () => {
    const database = await databases.open();
    const first = openToldGateway(database);
    await first.tell(started('CA1'), ended('CA1'));
    const { tell, records } = openToldGateway(database);
    const note = {
      type: 'note',
      callId: 'CA1',
      note: 'n1',
      author: 'eve',
      text: 'called back',
      at: '2026-01-01',
    } as const;
    await tell(note, { type: 'call.updated', callId: 'CA1', outcome: 'sold', tags: ['b', 'a', 'a'], by: 'eve' });
    expect(await records.calls.get('CA1')).toMatchObject({ outcome: 'sold', tags: ['a', 'b'], counts: { finals: 0 } });
    await tell({ type: 'call.updated', callId: 'CA1', outcome: null, tags: ['c'], by: 'eve' });
    expect(await records.calls.get('CA1')).toMatchObject({ outcome: null, tags: ['c'], endReason: 'hangup' });
    expect((await records.calls.events('CA1', { limit: 9 })).map(({ event }) => event.type)).toEqual([
      'call.started',
      'call.ended',
      'note',
      'call.updated',
      'call.updated',
    ]);
  });

  run('pass over events of calls that were never stored, or were deleted', async () => {
    const database = await databases.open();
    const { tell, records, metrics } = openToldGateway(database);
    await tell({ type: 'mark', callId: 'CA404', author: 'eve', label: 'x', atMs: 1 }, started('CA1'), ended('CA1'));
    expect(await records.calls.get('CA404')).toBeUndefined();
    await database.db.deleteFrom('calls').where('id', '=', 'CA1').execute();
    await tell({ type: 'mark', callId: 'CA1', author: 'eve', label: 'x', atMs: 1 });
    expect(await countOf(database, 'events')).toBe(0);
    expect((await metrics.records.lost.get()).values).toEqual([]);
  });

  run('are the feed of earlier lives: what comes after an id, of all calls or of one', async () => {
    const database = await databases.open();
    const first = openToldGateway(database);
    await first.tell(started('CA1'), started('CA2'), said('CA1', 1, 'a', { final: false }), said('CA1', 1, 'one'));
    const second = openToldGateway(database);
    await second.tell(started('CA3'), said('CA3', 1, 'three'));
    const { calls } = second.records;
    const idsAfter = async (id: string | null, callId?: string, limit = 100) => {
      const { entries, complete } = await calls.after(id, callId === undefined ? {} : { callId }, limit);
      return [
        ...entries.map((entry) => entry.id.replace(first.feed.epoch, 'a').replace(second.feed.epoch, 'b')),
        complete,
      ];
    };
    const { epoch } = first.feed;
    expect(await idsAfter(null)).toEqual(['a-1', 'a-2', 'a-4', 'b-1', 'b-2', true]);
    expect(await idsAfter('nonsense')).toEqual(['a-1', 'a-2', 'a-4', 'b-1', 'b-2', true]);
    expect(await idsAfter(`${epoch}-2`)).toEqual(['a-4', 'b-1', 'b-2', true]);
    // A partial caption that was not stored.
    expect(await idsAfter(`${epoch}-3`)).toEqual(['a-4', 'b-1', 'b-2', true]);
    expect(await idsAfter(`${epoch}-1`, 'CA1')).toEqual(['a-4', true]);
    expect(await idsAfter(null, undefined, 2)).toEqual(['a-1', 'a-2', false]);
    expect(await calls.latestCallIds(2)).toEqual(['CA3', 'CA2']);
    const known = [`${epoch}-999`, 'other-1', 'start', ''].map((id) => calls.knows(id));
    expect(await Promise.all(known)).toEqual([true, false, false, false]);
  });

  run('end calls of a gateway that died at their last known time, once', async () => {
    const database = await databases.open();
    const dead = openToldGateway(database);
    const startedAt = new Date(Date.now() - 60_000).toISOString();
    await dead.tell(started('CA1', { startedAt }), said('CA1', 1, 'hello'), started('CA2'), ended('CA2'));
    const lastMs =
      (await database.db.selectFrom('events').select('at_ms').orderBy('position').execute())[1]?.at_ms ?? 0;

    const living = openToldGateway(database);
    const told: string[] = [];
    living.feed.subscribe({}, ({ event }) => told.push(JSON.stringify(event)));
    await living.records.recover(living.feed);
    await openToldGateway(database).records.recover(living.feed);
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ type: 'call.ended', callId: 'CA1', reason: 'server_lost' });
    const call = await living.records.calls.get('CA1');
    expect(call).toMatchObject({ state: 'ended', endReason: 'server_lost', counts: { finals: 1 } });
    expect(Date.parse(call?.endedAt ?? '')).toBeGreaterThanOrEqual(lastMs);
    expect(call?.durationMs).toBeGreaterThanOrEqual(60_000);
    expect((await living.records.calls.events('CA1', { limit: 9 })).map(({ event }) => event.type)).toEqual([
      'call.started',
      'caption',
      'call.ended',
    ]);
    const signs = database.db.selectFrom('meta').select('name').where('name', 'like', 'alive:%');
    expect(await signs.execute()).toEqual([]);
  });

  run('take nothing with them but what belongs to a call when it is deleted', async () => {
    const database = await databases.open();
    const { tell } = openToldGateway(database);
    await tell(started('CA1'), said('CA1', 1, 'zebra'), started('CA2'), said('CA2', 1, 'giraffe'));
    await tell({ type: 'call.updated', callId: 'CA1', outcome: null, tags: ['x'], by: 'eve' });
    await database.db.deleteFrom('calls').where('id', '=', 'CA1').execute();
    expect(await search(database, 'zebra')).toBe(0);
    expect(await search(database, 'giraffe')).toBe(1);
    expect([await countOf(database, 'events'), await countOf(database, 'call_tags')]).toEqual([2, 0]);
  });

  run('do not change when the same is written again', async () => {
    const database = await databases.open();
    const { records } = openToldGateway(database);
    const { RecordWriter } = await import('../../src/records/record-writer.ts');
    const tally = CallTally.begin('CA1', 'e', {
      ...started('CA1'),
      own: null,
      parameters: {},
    });
    const event = said('CA1', 1, 'once');
    const text = tally.add(event, 1);
    const write = {
      epoch: 'e',
      number: 1,
      callId: 'CA1',
      type: 'caption',
      atMs: 1,
      content: JSON.stringify(event),
      tally,
      text,
      target: null,
      update: null,
    };
    const writer = new RecordWriter({ database, mayWrite: () => true, webhooks: () => null });
    await writer.write([write], null);
    await writer.write([write], null);
    expect(await records.calls.get('CA1')).toMatchObject({ counts: { finals: 1 } });
    expect([await countOf(database, 'events'), await countOf(database, 'texts')]).toEqual([1, 1]);
  });

  run('say how much there is', async () => {
    const database = await databases.open();
    const { tell, records } = openToldGateway(database);
    expect(await reportOf(database)).toMatchObject({ calls: 0, oldestCallAt: null, pending: [] });
    expect(await records.counted.read()).toEqual({ calls: 0, oldestCallAt: null });
    await tell(started('CA1', { startedAt: '2026-01-02T03:04:05.000Z' }));
    const status = await reportOf(database);
    expect(status).toMatchObject({ kind: database.kind, calls: 1, oldestCallAt: '2026-01-02T03:04:05.000Z' });
    expect(status.sizeBytes).toBeGreaterThan(10_000);
  });
});

async function search({ kind, reader }: RecordsDatabase, word: string): Promise<number> {
  const { rows } =
    kind === 'sqlite'
      ? await sql<{ n: number }>`select count(*) as n from texts_index where texts_index match ${`"${word}"`}`.execute(
          reader,
        )
      : await sql<{
          n: number;
        }>`select count(*) as n from texts where words @@ plainto_tsquery('simple', ${word})`.execute(reader);
  return rows[0]?.n ?? -1;
}

async function countOf({ reader }: RecordsDatabase, table: 'events' | 'texts' | 'call_tags'): Promise<number> {
  const found = await reader
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirst();
  return found?.n ?? -1;
}
