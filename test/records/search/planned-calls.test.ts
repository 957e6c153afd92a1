import fc from 'fast-check';
import type { Insertable } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallView } from '../../../src/calls/call-view.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { type CallFilter, passes, readParty } from '../../../src/records/search/call-filter.ts';
import { pageOfCalls, positionOf } from '../../../src/records/search/call-lists.ts';
import { PlannedCalls } from '../../../src/records/search/planned-calls.ts';
import { StoredCalls } from '../../../src/records/stored-calls.ts';
import type { CallsTable } from '../../../src/records/tables.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { callRow } from '../../helpers/record-rows.ts';
import { DATABASES } from '../databases.ts';

const CALLS = 600;
const AGENTS = ['ann', 'bob', null];
const NAMES = ['Maria Stone', 'Jo %_', 'AMARO "x"', null];
const TAGS = ['vip', 'late', 'rare'];
const PARTIES = ['+14155550100', '+14155550199', '+4930123456', 'sip:amy@example.com', 'anonymous', null];

const random = seededRandom(7);
const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

/** Many of them begin at the same time. */
function randomRow(seq: number): Insertable<CallsTable> & { readonly seq: number } {
  const state = seq % 50 === 0 ? 'live' : 'ended';
  return callRow(seq, {
    id: `CA${Math.floor(random() * 1e9)}-${seq}`,
    started_ms: Date.UTC(2026, 0, 1) + Math.floor(random() * 40) * 60_000,
    duration_ms: Math.floor(random() * 20) * 1000,
    from_party: oneOf(PARTIES),
    to_party: oneOf(PARTIES),
    inbound_name: oneOf(NAMES),
    outbound_name: oneOf(NAMES),
    agent: oneOf(AGENTS),
    queue: oneOf(['sales', null]),
    flow: oneOf(['shop', null]),
    outcome: oneOf(['solved', 'open', null]),
    gaps: oneOf([0, 0, 1]),
    state,
  });
}

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 });
const minute = fc.integer({ min: -1, max: 41 }).map((minutes) => Date.UTC(2026, 0, 1) + minutes * 60_000);
const filters: fc.Arbitrary<CallFilter> = fc.record({
  sinceMs: optional(minute),
  untilMs: optional(minute),
  party: optional(
    fc
      .constantFrom('+14155550100', '+1415*', '*0199', '*example.com', '+9*', '*7', '*@', '+*', '*14155550100')
      .map(readParty),
  ),
  name: optional(fc.constantFrom('mar', 'stone', '%_', '"x"', 'nobody', 'JO', 'a')),
  agent: optional(fc.constantFrom('ann', 'zoe')),
  onlyAgent: optional(fc.constantFrom('ann', 'bob')),
  queue: optional(fc.constant('sales')),
  flow: optional(fc.constantFrom('shop', 'none')),
  outcome: optional(fc.constantFrom('solved', 'open')),
  hasGap: optional(fc.boolean()),
  tag: optional(fc.constantFrom(...TAGS, 'unknown')),
  minDurationMs: optional(fc.constantFrom(0, 5000, 19_000)),
  maxDurationMs: optional(fc.constantFrom(0, 5000)),
});
/** So that many filters leave something. */
const fewConditions = filters.chain((filter) =>
  fc.subarray(Object.entries(filter), { maxLength: 3 }).map((kept): CallFilter => Object.fromEntries(kept)),
);

describe.each(DATABASES)('calls of a filter in $name', ({ isThere, start }) => {
  const databases = start();
  let database: RecordsDatabase;
  let all: CallView[];

  beforeAll(async () => {
    if (!isThere) return;
    database = await databases.open();
    const rows = Array.from({ length: CALLS }, (_, at) => randomRow(at + 1));
    const tags = rows.flatMap(({ seq, started_ms }) =>
      TAGS.filter((tag) => random() < (tag === 'rare' ? 0.01 : 0.3)).map((tag) => ({ call_seq: seq, tag, started_ms })),
    );
    for (let at = 0; at < CALLS; at += 200)
      await database.db
        .insertInto('calls')
        .values(rows.slice(at, at + 200))
        .execute();
    await database.db.insertInto('call_tags').values(tags).execute();
    const stored = new StoredCalls(database, async () => undefined);
    const found = await database.reader.selectFrom('calls').selectAll().where('state', '=', 'ended').execute();
    const tagsOf = (of: number) => tags.filter(({ call_seq }) => call_seq === of).map(({ tag }) => tag);
    all = found.map((row) => stored.toView(row, tagsOf(row.seq)));
  });
  afterAll(() => databases.end());
  const run = it.runIf(isThere);

  /** Page by page, as a reader follows them. */
  async function pagesOf(filter: CallFilter, planned: PlannedCalls, limit: number): Promise<string[]> {
    const ids: string[] = [];
    const stored = new StoredCalls(database, async () => undefined);
    for (let from: { startedMs: number; id: string } | null = null; ; ) {
      const rows = await planned.ended(filter, from, limit);
      const page = pageOfCalls(
        rows.map((row) => stored.toView(row, [])),
        null,
        limit,
      );
      ids.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (last === undefined || page.length < limit) return ids;
      from = positionOf(last);
    }
  }

  run('are those that a plain filter over all calls leaves, in the same order, whatever drives', async () => {
    const plans = fc.constantFrom(
      { parts: { first: 7, factor: 2, largest: 50 }, countedMax: 30 },
      { parts: { first: 100, factor: 4, largest: 400 }, countedMax: 20_000 },
    );
    const property = fc.asyncProperty(fewConditions, plans, async (filter, { parts, countedMax }) => {
      const planned = new PlannedCalls(database, parts, countedMax);
      const wanted = all.filter((call) => passes(call, filter));
      const expected = pageOfCalls(wanted, null, CALLS).map(({ id }) => id);
      expect(await pagesOf(filter, planned, 40)).toEqual(expected);
      const few = await planned.few({ ...filter, state: 'ended' }, CALLS);
      if (few !== null) expect(few.length).toBe(expected.length);
    });
    await fc.assert(property, { numRuns: 80, seed: 5 });
  });
});
