import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { CallRemoval, type SentenceCache } from '../../src/records/deletion/call-removal.ts';
import { spokenSentencesOf } from '../../src/speech/spoken-sentences.ts';
import { countedCache, keyOf, whole } from '../speech/caching.ts';
import { DATABASES } from './databases.ts';
import { ended, openToldGateway, said, spoke, started, type ToldGateway } from './told-calls.ts';

/** Sentences that are forgotten, as the test sees it. */
class FakeSentences implements SentenceCache {
  readonly forgotten: string[] = [];

  sentencesOf(text: string): string[] {
    return spokenSentencesOf(text);
  }

  async forget(sentences: readonly string[]): Promise<number> {
    this.forgotten.push(...sentences);
    return sentences.length;
  }
}

function removalOf({ records, feed }: ToldGateway, sentences: SentenceCache, removed: object[] = []): CallRemoval {
  const sound = {
    remove: async (call: object): Promise<number> => {
      removed.push(call);
      return 7;
    },
  };
  return new CallRemoval({
    database: records.database,
    search: records.lists.texts,
    feed,
    sound,
    sentences,
    copies: null,
    refused: null,
  });
}

/** A call in which both sides say words that nobody else says. */
const telling = (callId: string): FeedEvent[] => [
  started(callId, { names: { inbound: 'Wilhelmina', outbound: null }, startedAt: '2026-01-01T00:00:00.000Z' }),
  said(callId, 1, 'The xylophone is quarrelsome.'),
  said(callId, 2, 'It is about the mandoline.'),
  { type: 'revision', callId, track: 'inbound', utterance: 2, version: 2, text: 'My mandarin.', startMs: 0, endMs: 9 },
  spoke(callId, 's1', 'Hello and welcome. Your zeppelin departs.', 4000),
  { type: 'note', callId, note: 'n1', author: 'tom', text: 'Was rather hysterical.', at: '2026-01-01T00:00:00.000Z' },
  { type: 'call.updated', callId, outcome: 'bamboozled', tags: ['flabbergasted'], by: 'tom' },
  ended(callId),
];

const WORDS = [
  ...['xylophone', 'quarrelsome', 'mandoline', 'mandarin', 'zeppelin', 'hysterical', 'bamboozled', 'flabbergasted'],
  ...['wilhelmina', 'xyl', 'zepp'],
];

/** Which of `words` are in any file below `folder`, as UTF-8, whatever their case. */
function wordsIn(folder: string, words: readonly string[]): string[] {
  const content = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path).toString('latin1').toLowerCase());
  return words.filter((word) => content.some((text) => text.includes(word)));
}

describe.each(DATABASES)('deletion of a call in $name', ({ isThere, start, name }) => {
  const kind = name.startsWith('PostgreSQL') ? 'postgres' : 'sqlite';
  const databases = start();
  afterAll(() => databases.end());
  const run = it.runIf(isThere);

  run('takes its rows, sound, events in memory and own sentences, and nothing of other calls', async () => {
    const gateway = openToldGateway(await databases.open());
    const { records, feed, tell } = gateway;
    const sentences = new FakeSentences();
    const sounds: object[] = [];
    const published: FeedEvent[] = [];
    await tell(...telling('CA1'), started('CA2'), spoke('CA2', 's1', 'Hello and welcome.', 0), ended('CA2'));
    feed.subscribe({}, ({ event }) => published.push(event));
    const seq = (await records.calls.seqOf('CA1')) ?? 0;
    const removal = removalOf(gateway, sentences, sounds);
    expect(await removal.remove({ id: 'CA1', seq, startedMs: 5 })).toEqual({ soundBytes: 7 });
    await removal.finish();
    const { db } = records.database;
    for (const table of ['events', 'texts', 'call_tags'] as const) {
      const rows = await db.selectFrom(table).select('call_seq').execute();
      expect(
        rows.filter(({ call_seq }) => call_seq === seq),
        table,
      ).toEqual([]);
    }
    expect(await records.calls.get('CA1')).toBeUndefined();
    expect(await records.calls.get('CA2')).toMatchObject({ id: 'CA2', counts: { spoken: 1 } });
    expect(sounds).toEqual([{ callId: 'CA1', startedMs: 5 }]);
    expect(sentences.forgotten).toEqual(['Your zeppelin departs.']);
    expect(published).toEqual([{ type: 'call.deleted', callId: 'CA1' }]);
    const replayed: string[] = [];
    feed.subscribe({ after: 'x' }, ({ event }) => replayed.push(event.callId));
    expect(replayed.filter((id) => id === 'CA1')).toHaveLength(1);
    await records.close();
  });

  it.runIf(isThere && kind === 'postgres')('takes what gateways told each other, before it answers', async () => {
    const gateway = openToldGateway(await databases.open());
    const { records, tell } = gateway;
    const { db } = records.database;
    await tell(...telling('CA1'));
    for (const [number, call] of ['CA1', 'CA2', 'CA1'].entries())
      await sql`INSERT INTO feed VALUES (${number}, 'g', ${number}, ${call}, '{"text":"words"}', 0)`.execute(db);
    const seq = (await records.calls.seqOf('CA1')) ?? 0;
    await removalOf(gateway, new FakeSentences()).remove({ id: 'CA1', seq, startedMs: 0 });
    const { rows } = await sql`SELECT call_id FROM feed`.execute(db);
    expect(rows).toEqual([{ call_id: 'CA2' }]);
    await records.close();
  });

  run('deletes long calls, a little at a time', async () => {
    const gateway = openToldGateway(await databases.open());
    const { records, tell } = gateway;
    await tell(
      started('CA1'),
      ...Array.from({ length: 1203 }, (_, n) => said('CA1', n + 1, `word ${n}`)),
      ended('CA1'),
    );
    const seq = (await records.calls.seqOf('CA1')) ?? 0;
    await removalOf(gateway, new FakeSentences()).remove({ id: 'CA1', seq, startedMs: 0 });
    for (const table of ['events', 'texts'] as const)
      expect(await records.database.db.selectFrom(table).select('call_seq').execute()).toEqual([]);
    await records.close();
  });
});

describe('the files of a folder', () => {
  it('hold no word of a deleted call: not the database, its log, nor the cache of sentences', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-deletion-'));
    const { cache } = countedCache({ directory: join(folder, 'prompts') });
    await cache.open();
    const prompt = { bytes: new Uint8Array(1600), durationMs: 200 };
    for (const text of ['Your zeppelin departs.', 'Hello and welcome.'])
      await whole(cache, keyOf(text), async () => ({ ...prompt, about: keyOf(text) }) as never);
    await cache.settled();
    const databases = DATABASES[0].start();
    const database = await databases.open();
    const gateway = openToldGateway(database);
    // Calls before and after, so that its pages are shared with others.
    const others = (from: number) =>
      Array.from({ length: 40 }, (_, n) => [
        started(`CB${from + n}`),
        said(`CB${from + n}`, 1, `Ordinary words number ${from + n} of a person`),
        ended(`CB${from + n}`),
      ]).flat();
    await gateway.tell(...others(0));
    await gateway.tell(...telling('CA1'));
    await gateway.tell(...others(40));
    const places = [dirname(database.place), folder];
    const present = () => WORDS.filter((word) => places.some((place) => wordsIn(place, [word]).length > 0));
    expect(present()).toEqual(WORDS);
    const removal = removalOf(gateway, { sentencesOf: spokenSentencesOf, forget: (texts) => cache.forget(texts) });
    const seq = (await gateway.records.calls.seqOf('CA1')) ?? null;
    await removal.remove({ id: 'CA1', seq, startedMs: 0 });
    await removal.finish();
    expect(present()).toEqual([]);
    expect(cache.has(keyOf('Hello and welcome.'))).toBe(false);
    await gateway.records.close();
    expect(present()).toEqual([]);
    await databases.end();
    await rm(folder, { recursive: true });
  });
});
