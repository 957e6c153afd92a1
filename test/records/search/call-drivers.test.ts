import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/foundation/clock.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { type CallFilter, readParty } from '../../../src/records/search/call-filter.ts';
import { CallLists } from '../../../src/records/search/call-lists.ts';
import { PlannedCalls } from '../../../src/records/search/planned-calls.ts';
import { StoredCalls } from '../../../src/records/stored-calls.ts';
import { callRow, tagRow } from '../../helpers/record-rows.ts';
import { DATABASES } from '../databases.ts';

const CALLS = 3000;
/** Each leaves one call of all. */
const FILTERS: readonly (readonly [string, CallFilter])[] = [
  ['calls_from_party', { party: readParty('+4930999') }],
  ['calls_from_party', { party: readParty('+49309*') }],
  ['calls_from_party_reversed', { party: readParty('*0999') }],
  ['names', { name: 'arios' }],
  ['calls_agent', { agent: 'zoe' }],
  ['calls_agent', { onlyAgent: 'zoe', agent: 'zoe' }],
  ['calls_queue', { queue: 'night' }],
  ['calls_app', { app: 'wss://rare.example' }],
  ['calls_flow', { flow: 'rare' }],
  ['calls_outcome', { outcome: 'lost' }],
  ['calls_end_reason', { endReason: 'failed' }],
  ['calls_carrier', { carrier: 'sip' }],
  ['calls_with_gaps', { hasGap: true }],
  ['call_tags_of_tag', { tag: 'vip' }],
  ['calls_length', { minDurationMs: 3_600_000 }],
  ['calls_outcome', { agent: 'ann', queue: 'day', outcome: 'won' }],
  ['calls_started', { party: readParty('+1*'), sinceMs: callRow(CALLS).started_ms }],
];

describe.each(DATABASES)('the plan of a search in $name', ({ isThere, kind, start }) => {
  const databases = start();
  let database: RecordsDatabase;
  beforeAll(async () => {
    if (!isThere) return;
    database = await databases.open();
    const rare = {
      from_party: '+4930999',
      inbound_name: 'Mariosa',
      agent: 'zoe',
      queue: 'night',
      app: 'wss://rare.example',
      flow: 'rare',
      outcome: 'lost',
      end_reason: 'failed',
      carrier: 'sip',
      gaps: 1,
      duration_ms: 3_600_000,
    };
    const common = { agent: 'ann', queue: 'day', app: 'wss://app.example', flow: 'shop', inbound_name: 'Peter' };
    const rows = Array.from({ length: CALLS }, (_, at) =>
      callRow(at + 1, at === 5 ? rare : { ...common, outcome: at === 9 ? 'won' : null }),
    );
    for (let at = 0; at < CALLS; at += 500)
      await database.db
        .insertInto('calls')
        .values(rows.slice(at, at + 500))
        .execute();
    await database.db.insertInto('call_tags').values(tagRow(6, 'vip')).execute();
    await database.db
      .insertInto('call_tags')
      .values(rows.map(({ seq }) => tagRow(seq, 'usual')))
      .execute();
    // PostgreSQL does it by itself, some time later.
    if (kind === 'postgres') await sql`VACUUM (ANALYZE)`.execute(database.db);
  });
  afterAll(() => databases.end());

  /** The queries of one page, as they are run. */
  async function queriesOf(filter: CallFilter): Promise<CompiledQuery[]> {
    const asked = vi.spyOn(database.reader.getExecutor(), 'executeQuery');
    const found = await new PlannedCalls(database).ended(filter, null, 100);
    const queries = asked.mock.calls.map(([query]) => query);
    asked.mockRestore();
    expect(found).toHaveLength(1);
    return queries;
  }

  async function planOf({ sql: text, parameters }: CompiledQuery): Promise<string> {
    const how = kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
    const { rows } = await database.reader.executeQuery(CompiledQuery.raw(`${how} ${text}`, [...parameters]));
    return rows.map((row) => JSON.stringify(row)).join('\n');
  }

  it.runIf(isThere).each(FILTERS)('uses %s for %o, and reads no table from end to end', async (index, filter) => {
    const queries = await queriesOf(filter);
    expect(queries.length).toBeLessThanOrEqual(2);
    const plans = await Promise.all(queries.map(planOf));
    expect(plans.join('\n')).toContain(index);
    // Those before count, and each at most so many.
    expect(plans.at(-1)).not.toMatch(/Seq Scan on (calls|call_tags)|SCAN (calls|call_tags)(?! USING)/);
  });

  it.runIf(isThere)('counts the calls of a number without reading their rows', async () => {
    for (const party of ['*0999', '+49309*'].map(readParty)) {
      const [counting] = await queriesOf({ party });
      expect(counting && (await planOf(counting))).not.toMatch(/Index Scan using|Heap Scan|USING INDEX/);
    }
  });

  it.runIf(isThere)('gives a page and its tags in one statement, beside the one of calls that go on', async () => {
    const calls = new StoredCalls(database, async () => undefined);
    const lists = new CallLists({ database, clock: systemClock, calls, live: () => null });
    const asked = vi.spyOn(database.reader.getExecutor(), 'executeQuery');
    const found = await lists.list(
      { list: () => [], get: () => undefined },
      { agent: 'zoe' },
      { after: null, limit: 9 },
    );
    expect(found.map(({ tags }) => tags)).toEqual([['usual', 'vip']]);
    expect(asked).toHaveBeenCalledTimes(2);
    asked.mockRestore();
  });
});
