import type { Kysely } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import type { CallFilter } from '../../../src/records/search/call-filter.ts';
import { readParty } from '../../../src/records/search/call-filter.ts';
import { parseSearch } from '../../../src/records/search/search-query.ts';
import { type FoundCall, TextSearch } from '../../../src/records/search/text-search.ts';
import type { Tables } from '../../../src/records/tables.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { addCall, tagRow } from '../../helpers/record-rows.ts';
import { DATABASES } from '../databases.ts';
import { SEARCH_CASES } from './search-cases.ts';

let database: RecordsDatabase;
let db: Kysely<Tables>;

async function find(typed: string, filter: CallFilter = {}, belowSeq: number | null = null): Promise<FoundCall[]> {
  const search = new TextSearch({ reader: database.reader, kind: database.kind, clock: new FakeClock() });
  const found: FoundCall[] = [];
  for await (const slice of search.find({ query: parseSearch(typed), filter, belowSeq })) found.push(...slice);
  return found;
}

const seqs = async (...request: Parameters<typeof find>) => (await find(...request)).map(({ seq }) => seq);

describe.each(DATABASES)('search in $name', ({ isThere, start }) => {
  const databases = start();
  beforeEach(async () => {
    if (!isThere) return;
    database ??= await databases.open();
    db = database.db;
    await db.deleteFrom('calls').execute();
  });
  afterAll(async () => {
    database = undefined as never;
    await databases.end();
  });
  const run = it.runIf(isThere);

  run.each(SEARCH_CASES)('finds "$typed" in "$text": $found', async ({ typed, text, found }) => {
    await addCall(db, 1, [text]);
    expect(await seqs(typed)).toEqual(found ? [1] : []);
  });

  run('finds nothing where nothing is', async () => {
    expect(await seqs('word')).toEqual([]);
  });

  run('gives the newest calls first, with their last three texts', async () => {
    await addCall(db, 3, ['red', 'blue', 'red', 'red', 'red light']);
    await addCall(db, 70, ['red']);
    await addCall(db, 40_000, ['a red one']);
    const id = (seq: number, n: number) => seq * 2 ** 20 + n;
    expect(await find('red')).toEqual([
      { seq: 40_000, textIds: [id(40_000, 1)] },
      { seq: 70, textIds: [id(70, 1)] },
      { seq: 3, textIds: [id(3, 5), id(3, 4), id(3, 3)] },
    ]);
    expect(await seqs('red', {}, 40_000)).toEqual([70, 3]);
    expect(await seqs('red', {}, 3)).toEqual([]);
  });

  run('finds the latest text of an utterance, and nothing of a call that is gone', async () => {
    await addCall(db, 1, ['it is read']);
    await db.updateTable('texts').set({ text: 'it is red', version: 2 }).execute();
    expect(await seqs('read')).toEqual([]);
    expect(await seqs('red')).toEqual([1]);
    await db.deleteFrom('calls').execute();
    expect(await seqs('red')).toEqual([]);
    expect(await db.selectFrom('texts').selectAll().execute()).toEqual([]);
  });

  run('misses no call where there are more hits than a slice reads', async () => {
    for (let seq = 1; seq <= 40; seq++)
      await addCall(
        db,
        seq,
        Array.from({ length: 33 }, () => 'the word'),
      );
    const all = Array.from({ length: 40 }, (_, index) => 40 - index);
    expect(await seqs('word')).toEqual(all);
    expect((await find('word')).every(({ textIds }) => textIds.length === 3)).toBe(true);
    // A filter where most calls have the word: they are looked at one by one.
    await db.updateTable('calls').set({ queue: 'sales' }).where('seq', 'in', [2, 17, 39]).execute();
    expect(await seqs('word', { queue: 'sales' })).toEqual([39, 17, 2]);
  });

  run.each<[string, CallFilter]>([
    ['since', { sinceMs: Date.UTC(2026, 0, 1, 0, 2) }],
    ['until', { untilMs: Date.UTC(2026, 0, 1, 0, 3), sinceMs: Date.UTC(2026, 0, 1, 0, 2) }],
    ['carrier', { carrier: 'sip' }],
    ['whole party', { party: readParty('+15550002') }],
    ['beginning of a party', { party: readParty('+1555*') }],
    ['end of a party', { party: readParty('*0002') }],
    ['name', { name: 'MARIA' }],
    ['agent', { agent: 'tom' }],
    ['only agent', { onlyAgent: 'tom' }],
    ['queue', { queue: 'sales' }],
    ['app', { app: 'wss://app' }],
    ['outcome', { outcome: 'solved' }],
    ['end reason', { endReason: 'lost' }],
    ['gap', { hasGap: true }],
    ['tag', { tag: 'vip' }],
    ['state', { state: 'live' }],
  ])('filters by %s', async (_name, filter) => {
    await addCall(db, 1, ['word']);
    await addCall(db, 2, ['word'], {
      carrier: 'sip',
      to_party: '+15550002',
      inbound_name: 'Maria K.',
      agent: 'tom',
      queue: 'sales',
      app: 'wss://app',
      outcome: 'solved',
      end_reason: 'lost',
      gaps: 1,
      state: 'live',
    });
    await db.insertInto('call_tags').values(tagRow(2, 'vip')).execute();
    expect(await seqs('word', filter)).toEqual([2]);
  });
});
