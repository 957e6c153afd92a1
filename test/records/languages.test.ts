/** Calls in other languages, told, stored, found, revised and read back. */
import { afterAll, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { transcriptOf } from '../../src/calls/feed/transcript-builder.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { parseSearch } from '../../src/records/search/search-query.ts';
import { TextSearch } from '../../src/records/search/text-search.ts';
import { DATABASES } from './databases.ts';
import { ended, openToldGateway, said, started } from './told-calls.ts';

const LANGUAGE: FeedEvent = {
  type: 'language',
  callId: 'CA1',
  track: 'inbound',
  language: 'ja',
  atMs: 900,
  by: 'heard',
};

describe.each(DATABASES)('calls in other languages in $name', ({ isThere, start }) => {
  const databases = start();
  afterAll(() => databases.end());

  it.runIf(isThere)('are stored with their languages, and found by what was said last', async () => {
    const database = await databases.open();
    const { tell } = openToldGateway(database);
    await tell(
      started('CA1'),
      LANGUAGE,
      said('CA1', 1, '東京支店をお願いします。', { language: 'ja' }),
      said('CA1', 2, 'رقم الحِساب من فضلك', { language: 'ar' }),
    );
    const revision = { track: 'inbound', utterance: 1, version: 2, startMs: 1000, endMs: 1900 } as const;
    await tell({ type: 'revision', callId: 'CA1', ...revision, text: '京都支店をお願いします。' }, ended('CA1'));
    const { db, kind } = database;
    const rows = await db.selectFrom('events').select('content').orderBy('position').execute();
    const stored = rows.map(({ content }) => JSON.parse(content) as FeedEvent);
    expect(stored).toContainEqual(LANGUAGE);
    expect(stored.flatMap((event) => (event.type === 'caption' ? [event.language] : []))).toEqual(['ja', 'ar']);
    expect(transcriptOf(stored)).toMatchObject([
      { text: '京都支店をお願いします。', version: 2, language: 'ja' },
      { text: 'رقم الحِساب من فضلك', language: 'ar' },
    ]);
    const search = new TextSearch({ reader: db, kind, clock: systemClock });
    const count = async (typed: string): Promise<number> => {
      let found = 0;
      for await (const calls of search.find({ query: parseSearch(typed), filter: {}, belowSeq: null }))
        found += calls.length;
      return found;
    };
    const typed = ['京都', '東京', '支店 الحساب', 'الحساب', 'お願い -東京', '支店*'];
    expect(await Promise.all(typed.map(count))).toEqual([1, 0, 0, 1, 1, 1]);
  });
});
