import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/foundation/clock.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { migrate } from '../../src/records/migrations/migrations.ts';
import { openFeed } from '../../src/records/open-feed.ts';
import { recordRedaction } from '../../src/records/record-redaction.ts';
import { Records } from '../../src/records/records.ts';
import { openSqliteRecords } from '../../src/records/sqlite-records.ts';
import { ended, said, spoke, started } from './told-calls.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-redacted-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const DICTATED = [
  'My card is',
  '4539.',
  'one four eight eight',
  'One moment.',
  '0343',
  'six four six seven',
  'Thanks.',
];

/** Tells a call in which a card number is dictated, and returns what readers saw and what is stored. */
async function dictate(REDACT: 'off' | 'store' | 'feed') {
  const database = await openSqliteRecords(join(folder, 'records.sqlite'));
  await migrate(database.db, 'sqlite');
  const parts = { clock: systemClock, log: createLog('silent'), metrics: new Metrics() };
  const settings = { REDACT, FEED_HISTORY: 100, REDACT_PATTERNS_FILE: '' } as const;
  const redaction = recordRedaction(settings, systemClock);
  const records = new Records({ ...parts, database, folder: null, retentionDays: 30, isShared: false, redaction });
  const { feed, close } = openFeed(settings, { clock: systemClock });
  records.follow(feed, { get: () => undefined, parameters: () => undefined });
  const live: string[] = [];
  feed.subscribe({}, ({ json }) => void live.push(json));
  feed.publish(started('CA1'));
  for (const [index, text] of DICTATED.entries()) {
    feed.publish(said('CA1', index + 1, text));
    // Each is stored before the next one comes.
    await records.recorder.settled();
  }
  feed.publish(spoke('CA1', 's1', 'You said 4539 1488 0343 6467.', 1000));
  feed.publish(ended('CA1'));
  await records.recorder.settled();
  await records.recorder.settled();
  const events = await records.calls.events('CA1', { limit: 100 });
  const texts = await database.reader.selectFrom('texts').select('text').orderBy('id').execute();
  await records.close();
  close();
  const files = await readdir(folder);
  const bytes = files.map((file) => readFileSync(join(folder, file), 'latin1')).join('');
  return {
    live: live.join(),
    stored: events.map(({ json }) => json).join(),
    texts: texts.map(({ text }) => text),
    bytes,
  };
}

const DIGITS = /4539|four eight eight|0343|six four six/;
const MASKED = [
  'My card is',
  '[card number].',
  '[card number]',
  'One moment.',
  '[card number]',
  '[card number]',
  'Thanks.',
  'You said [card number].',
];

describe('a card number that is dictated in five utterances', () => {
  it('is on no disk with REDACT=store, and readers see it', async () => {
    const { live, stored, texts, bytes } = await dictate('store');
    expect(live).toMatch(DIGITS);
    expect(stored).not.toMatch(DIGITS);
    expect(bytes).not.toMatch(DIGITS);
    expect(texts).toEqual(MASKED);
  });

  it('is nowhere with REDACT=feed', async () => {
    const { live, stored, texts, bytes } = await dictate('feed');
    expect(live).not.toMatch(DIGITS);
    expect(stored).not.toMatch(DIGITS);
    expect(bytes).not.toMatch(DIGITS);
    expect(texts).toEqual(MASKED);
  });

  it('is kept with REDACT=off', async () => {
    const { stored } = await dictate('off');
    expect(stored).toMatch(DIGITS);
  });
});
