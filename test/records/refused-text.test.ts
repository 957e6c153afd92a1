/** Text that PostgreSQL refuses, in all that a carrier or an app can send: both databases keep the same of it. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import { whyNoPostgres } from '../helpers/postgres.ts';
import { DATABASES, type TestDatabases } from './databases.ts';
import { ended, openToldGateway, said, spoke, started, type ToldGateway } from './told-calls.ts';

const SPOILT = fc.constantFrom('\0', 'a\0b', '\ud83d', '\udc00x', '{"a":"\\u0000"}');
const anyText = fc.oneof(SPOILT, fc.string({ unit: 'binary', maxLength: 20 }));

interface Told {
  readonly from: string;
  readonly to: string;
  readonly agent: string;
  readonly text: string;
  readonly handoffData: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly tag: string;
}

const told: fc.Arbitrary<Told> = fc.record({
  from: anyText,
  to: anyText,
  agent: anyText,
  text: anyText,
  handoffData: anyText,
  parameters: fc.dictionary(anyText, anyText, { maxKeys: 3 }),
  tag: anyText,
});

async function tell(
  gateway: ToldGateway,
  id: string,
  { from, to, agent, text, handoffData, tag }: Told,
): Promise<void> {
  await gateway.tell(
    started(id, { from, to, agent, queue: tag, startedAt: '2026-01-01T00:00:00Z' }),
    said(id, 1, text),
    spoke(id, 'greeting', text, 100),
    { type: 'call.updated', callId: id, outcome: text, tags: [tag], by: 'tester' },
    { ...ended(id), handoffData } as ReturnType<typeof ended>,
  );
}

/** All that is stored of a call, without what counts in the database itself. */
async function storedOf({ db }: RecordsDatabase, id: string): Promise<unknown> {
  const { seq, gateway, ended_ms, ...call } = await db
    .selectFrom('calls')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const events = await db
    .selectFrom('events')
    .select('content')
    .where('call_seq', '=', seq)
    .orderBy('position')
    .execute();
  const texts = await db
    .selectFrom('texts')
    .select(['kind', 'text', 'utterance'])
    .where('call_seq', '=', seq)
    .orderBy('id')
    .execute();
  const tags = await db.selectFrom('call_tags').select('tag').where('call_seq', '=', seq).execute();
  return { call, events, texts, tags };
}

describe.runIf(whyNoPostgres === '')(`text that PostgreSQL refuses${whyNoPostgres}`, () => {
  const kinds: TestDatabases[] = [];
  let databases: RecordsDatabase[];
  beforeAll(async () => {
    for (const { start } of DATABASES) kinds.push(start());
    databases = await Promise.all(kinds.map((kind) => kind.open()));
  });
  afterAll(async () => {
    for (const kind of kinds) await kind.end();
  });

  it('costs no call, and both databases give back equal rows', { timeout: 120_000 }, async () => {
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(told, async (words) => {
        const id = `CA${++calls}`;
        const parameters = { [id]: words.parameters };
        const rows: unknown[] = [];
        for (const database of databases) {
          const gateway = openToldGateway(database, { parameters });
          await tell(gateway, id, words);
          expect(gateway.records.recorder.lost).toBe(0);
          rows.push(await storedOf(database, id));
        }
        expect(rows[1]).toEqual(rows[0]);
        expect(JSON.stringify(rows[0])).not.toMatch(/\\u0000|\\ud[89a-f]/);
        expect(rows[0]).toMatchObject({ call: { state: 'ended', end_reason: 'hangup', finals: 1 } });
      }),
      { numRuns: 25 },
    );
  });

  it('finds what was kept of it', async () => {
    for (const database of databases) {
      const { records, tell: say } = openToldGateway(database);
      await say(started('CA-found', { agent: 'a\0da' }), ended('CA-found'));
      const memory = { list: () => [], get: () => undefined };
      const found = await records.lists.list(memory, { agent: 'a\0da' }, { after: null, limit: 10 });
      expect(found.map(({ id }) => id)).toEqual(['CA-found']);
      expect(await records.lists.list(memory, { tag: 'nobody\0' }, { after: null, limit: 10 })).toEqual([]);
    }
  });
});
