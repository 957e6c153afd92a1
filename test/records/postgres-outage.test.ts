import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { openPostgresRecords } from '../../src/records/postgres-records.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { ended, openToldGateway, said, started } from './told-calls.ts';

const open = (url: string): Promise<RecordsDatabase> =>
  openPostgresRecords(url, { clock: systemClock, log: createLog('silent') });

describe.runIf(whyNoPostgres === '')(`records in PostgreSQL${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.remove());

  it('wait in memory while it is away, and are written once when it is back', async () => {
    const database = await open(await postgres.createDatabase());
    const { feed, records, tell } = openToldGateway(database);
    await tell(started('CA1'), said('CA1', 1, 'before'));
    await postgres.stop('crash');
    for (let utterance = 2; utterance <= 150; utterance++) feed.publish(said('CA1', utterance, `word ${utterance}`));
    await expect.poll(() => records.recorder.isTroubled).toBe(true);
    expect(records.recorder.backlog).toBe(149);
    await postgres.start();
    feed.publish(ended('CA1'));
    await records.recorder.settled();
    const events = await records.calls.events('CA1', { limit: 1000 });
    const utterances = events.flatMap(({ event }) => (event.type === 'caption' ? [event.utterance] : []));
    expect(utterances).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
    expect(events.at(-1)?.event.type).toBe('call.ended');
    expect(await records.calls.get('CA1')).toMatchObject({ counts: { finals: 150 }, endReason: 'hangup' });
    expect(records.recorder.lost).toBe(0);
    await records.close();
  });

  it('are one server’s: a second one is told so, and may have them when the first has ended', async () => {
    const url = await postgres.createDatabase();
    const first = await open(url);
    let isOpen = false;
    const second = open(url).then((database) => {
      isOpen = true;
      return database;
    });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(isOpen).toBe(false);
    await first.close();
    await (await second).close();
  });

  it('say which database cannot be used, and why, without its password', async () => {
    const url = (await postgres.createDatabase()).replace(/\/[^/]+$/, '/nosuch').replace('tester@', 'tester:hush@');
    const error = await open(url).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/DATABASE_URL: the database refuses the connection \(3D000\)/);
    expect(String(error)).not.toContain('hush');
  });
});
