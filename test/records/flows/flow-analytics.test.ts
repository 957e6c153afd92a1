import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/foundation/clock.ts';
import type { FlowAnalytics } from '../../../src/records/flows/flow-analytics.ts';
import { FlowCount, type FlowStatistics } from '../../../src/records/flows/flow-count.ts';
import { FlowDays } from '../../../src/records/flows/flow-days.ts';
import { migrate } from '../../../src/records/migrations/migrations.ts';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { DATABASES } from '../databases.ts';
import { openToldGateway, said, started } from '../told-calls.ts';
import { flowCall } from './told-flows.ts';

const PERIOD = { fromMs: Date.parse('2026-01-05T00:00:00Z'), toMs: Date.parse('2026-01-06T00:00:00Z') };
const PERIOD_FILTER = { sinceMs: PERIOD.fromMs, untilMs: PERIOD.toMs };
/** No other flow calls it. */
const ALONE = { callers: [], within: [] };
const never = new AbortController().signal;

const CALLS = [
  // Two ways through, a hang-up in the menu, one in a flow that was called, and one that goes on.
  ...flowCall('CA1', [{ step: 'menu' }, { match: 'hours' }, { step: 'hours', verb: 'hours' }, { end: 'done' }]),
  ...flowCall('CA2', [
    { step: 'menu' },
    { noMatch: 'Pizza, please.' },
    { noMatch: 'pizza please' },
    { noInput: true },
    { step: 'person', verb: 'transfer' },
    { end: 'transferred' },
  ]),
  ...flowCall('CA3', [{ step: 'menu' }, { noMatch: '7', keys: true }, { noInput: true }, { end: 'hangup' }]),
  ...flowCall('CA4', [
    { step: 'menu' },
    { step: 'identify', verb: 'flow' },
    { flow: 'who', step: 'ask', verb: 'gather' },
    { flow: 'who', step: 'check', verb: 'confirm' },
    { step: 'hours', verb: 'hours' },
    { step: 'identify', verb: 'flow' },
    { flow: 'who', step: 'ask', verb: 'gather' },
    { end: 'hangup' },
  ]),
  ...flowCall('CA5', [{ step: 'menu' }], { version: '0b0b0b0b', startedAt: '2026-01-05T12:00:00.000Z', isOver: false }),
  ...flowCall('CA6', [{ step: 'menu' }], { version: '0b0b0b0b', startedAt: '2026-01-05T13:00:00.000Z' }),
  ...flowCall('CA7', [{ step: 'menu' }, { end: 'done' }], { startedAt: '2026-01-07T00:00:00.000Z' }),
  ...flowCall('CA8', [{ step: 'menu' }, { end: 'done' }], { flow: 'other' }),
  started('CA9', { startedAt: '2026-01-05T10:00:00.000Z' }),
  said('CA9', 1, 'no flow at all'),
];

describe.each(DATABASES)('the statistics of a flow in $name', ({ isThere, start }) => {
  const databases = start();
  let database: RecordsDatabase;
  let analytics: FlowAnalytics;
  beforeAll(async () => {
    if (!isThere) return;
    database = await databases.open();
    const { tell, records } = openToldGateway(database);
    await tell(...CALLS);
    ({ flows: analytics } = records);
  });
  afterAll(() => databases.end());

  const count = (version: string | null = null): Promise<FlowStatistics> =>
    analytics.count({ flow: 'shop', version, ...ALONE, ...PERIOD }, never);
  const stepOf = ({ steps }: FlowStatistics, name: string, flow = 'shop') => {
    const found = steps.find((step) => step.step === name && step.flow === flow);
    if (found === undefined) throw new Error(`expected a step ${name}`);
    return found;
  };
  const exitsOf = (statistics: FlowStatistics, name: string, flow = 'shop') =>
    Object.fromEntries(
      stepOf(statistics, name, flow).exits.map(({ exit, count: times }) => [
        [
          exit.kind === 'step' ? `${exit.flow}/${exit.step}` : exit.kind,
          ...[exit.reason, exit.detail].filter((why) => why !== null),
        ].join(' '),
        times,
      ]),
    );

  it.runIf(isThere)('count the calls of the period, how they ended and through which version', async () => {
    const { calls, isComplete, outcomes, versions } = await count();
    expect({ calls, isComplete, outcomes }).toEqual({
      calls: 6,
      isComplete: true,
      outcomes: { done: 1, transferred: 1, hangup: 2, failed: 0, lost: 1, underWay: 1 },
    });
    expect(versions.map(({ version, calls: used }) => [version, used])).toEqual([
      ['0b0b0b0b', 2],
      ['0a0a0a0a', 4],
    ]);
    const later = await count('0b0b0b0b');
    expect([later.calls, later.versions.length, stepOf(later, 'menu').calls]).toEqual([2, 2, 2]);
  });

  it.runIf(isThere)('say where each step led, and where callers hung up', async () => {
    const statistics = await count();
    expect(exitsOf(statistics, 'menu')).toEqual({
      'shop/hours match hours': 1,
      'shop/person noInput': 1,
      'shop/identify': 1,
      hangup: 1,
      lost: 1,
    });
    expect(stepOf(statistics, 'menu')).toMatchObject({ calls: 6, visits: 6, underWay: 1, hangups: 1 });
    expect(exitsOf(statistics, 'person')).toEqual({ transferred: 1 });
  });

  it.runIf(isThere)('say which answer, key or failure led there', async () => {
    const { tell } = openToldGateway(database);
    const ask = { step: 'ask', verb: 'confirm' } as const;
    await tell(
      ...flowCall('why1', [ask, { match: 'true' }, { step: 'next' }, { end: 'done' }], { flow: 'why' }),
      ...flowCall('why2', [ask, { noMatch: 'what' }, { match: 'true' }, { step: 'next' }], { flow: 'why' }),
      ...flowCall('why3', [ask, { noMatch: 'what' }, { step: 'next', by: 'key' }], { flow: 'why' }),
      ...flowCall('why4', [ask, { step: 'next', by: 'failed' }], { flow: 'why' }),
      ...flowCall('why5', [ask, { noMatch: 'what' }, { end: 'hangup' }], { flow: 'why' }),
      ...flowCall('why6', [{ step: 'ask', verb: 'gather' }, { match: 'secret' }, { end: 'done' }], { flow: 'why' }),
    );
    const statistics = await analytics.count({ flow: 'why', version: null, ...ALONE, ...PERIOD }, never);
    expect(exitsOf(statistics, 'ask', 'why')).toEqual({
      'why/next match true': 2,
      'why/next key': 1,
      'why/next failed': 1,
      hangup: 1,
      'done match': 1,
    });
  });

  it.runIf(isThere)('of a flow that others call have its part of their calls', async () => {
    const request = { flow: 'who', version: null, callers: ['shop'], within: ['who'], ...PERIOD };
    const { calls, outcomes, steps, versions } = await analytics.count(request, never);
    expect([calls, outcomes.hangup, versions]).toEqual([1, 1, []]);
    expect(steps.map(({ flow, step, visits }) => [flow, step, visits])).toEqual([
      ['who', 'ask', 2],
      ['who', 'check', 1],
    ]);
  });

  it.runIf(isThere)('follow a flow that another one calls, which goes on when it returns', async () => {
    const statistics = await count();
    expect(exitsOf(statistics, 'identify')).toEqual({ 'shop/hours': 1, hangup: 1 });
    expect(exitsOf(statistics, 'ask', 'who')).toEqual({ 'who/check': 1, hangup: 1 });
    expect(exitsOf(statistics, 'check', 'who')).toEqual({ done: 1 });
    expect(stepOf(statistics, 'identify')).toMatchObject({ calls: 1, visits: 2, hangups: 0 });
    expect(stepOf(statistics, 'ask', 'who')).toMatchObject({ calls: 1, visits: 2, hangups: 1 });
    expect(stepOf(statistics, 'identify').time).toEqual({ p50Ms: 2000, p95Ms: 3000 });
  });

  it.runIf(isThere)('have what matched nothing, the same words once', async () => {
    const menu = stepOf(await count(), 'menu');
    expect(menu).toMatchObject({ matches: 1, noMatches: 3, noInputs: 2 });
    expect(menu.unmatched).toEqual([
      { text: 'Pizza, please.', kind: 'speech', count: 2 },
      { text: '7', kind: 'keys', count: 1 },
    ]);
  });

  it.runIf(isThere)('count the calls of a list, and find when the last one was', async () => {
    expect(await analytics.callsSince('shop', PERIOD.fromMs)).toEqual({
      calls: 7,
      isMore: false,
      lastMs: Date.parse('2026-01-07T00:00:00.000Z'),
    });
    expect(await analytics.callsSince('nobody', 0)).toEqual({ calls: 0, isMore: false, lastMs: null });
  });

  it.runIf(isThere)('lead to the calls that reached a step, also those that memory has', async () => {
    const { lists, calls } = openToldGateway(database).records;
    const live = await calls.get('CA4');
    if (live === undefined) throw new Error('expected CA4');
    const inMemory = { ...live, phase: null, agent: 'tom' };
    const memory = { list: () => [inMemory], get: (id: string) => (id === 'CA4' ? inMemory : undefined) };
    const reached = async (step: string, flow = 'shop') => {
      const found = await lists.list(memory, { step: { flow, step }, ...PERIOD_FILTER }, { after: null, limit: 10 });
      return found.map(({ id, agent }) => [id, agent]);
    };
    expect(await reached('person')).toEqual([['CA2', null]]);
    expect(await reached('ask', 'who')).toEqual([['CA4', 'tom']]);
    expect([await reached('ask'), await reached('%'), await reached('Person'), await reached('perso')]).toEqual([
      [],
      [],
      [],
      [],
    ]);
  });

  it.runIf(isThere)('end when nobody waits for them', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    await expect(analytics.count({ flow: 'shop', version: null, ...ALONE, ...PERIOD }, gone)).rejects.toThrow('gone');
  });

  it.runIf(isThere)('are read over indexes, also in long calls and many of them', async () => {
    const { tell } = openToldGateway(database);
    const moments = Array.from({ length: 900 }, (_, n) => ({ step: `s${n % 3}` }));
    for (let n = 0; n < 4; n++) await tell(...flowCall(`long${n}`, moments, { flow: 'long' }));
    for (let n = 0; n < 40; n++) await tell(...flowCall(`many${n}`, [{ step: 's0' }], { flow: 'long' }));
    const statistics = await analytics.count({ flow: 'long', version: null, ...ALONE, ...PERIOD }, never);
    expect(statistics.calls).toBe(44);
    expect(statistics.steps.map(({ step, visits }) => [step, visits])).toEqual([
      ['s0', 1240],
      ['s1', 1200],
      ['s2', 1200],
    ]);
    const plan = await sql<
      Record<string, string>
    >`${sql.raw(database.kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN')}
      SELECT content FROM events WHERE type IN ('flow.started', 'flow.step', 'flow.input', 'flow.ended')
      AND call_seq IN (1, 2, 3) ORDER BY call_seq, position LIMIT 1500`.execute(database.db);
    if (database.kind === 'sqlite') expect(JSON.stringify(plan.rows)).toMatch(/events_of_flows/);
  });

  it.runIf(isThere)('count a day that is over once, and anew when a call of it changes or is deleted', async () => {
    const days = await databases.open();
    const { tell, records } = openToldGateway(days, { clock: systemClock });
    const calls = ['CB1', 'CB2', 'CB3'].flatMap((id) =>
      flowCall(id, [{ step: 'menu' }, { noMatch: id }, { end: 'done' }]),
    );
    await tell(
      ...calls,
      ...flowCall('CB4', [{ step: 'menu' }, { end: 'done' }], { startedAt: '2026-01-04T12:00:00.000Z' }),
    );
    const request = { flow: 'shop', version: null, ...ALONE, ...PERIOD, fromMs: Date.parse('2026-01-04T00:00:00Z') };
    const counted = () => records.flows.count(request, never);
    const first = await counted();
    expect(first).toMatchObject({ calls: 4, isComplete: true, outcomes: { done: 4 } });
    const kept = () => days.db.selectFrom('flow_days').select(['day_ms', 'scope']).where('scope', '<>', '').execute();
    expect(await kept()).toHaveLength(2);
    expect(await counted()).toEqual(first);
    await sql`UPDATE flow_days SET content = replace(content, '"calls":3', '"calls":300')`.execute(days.db);
    expect((await counted()).calls).toBe(301);
    await sql`UPDATE events SET content = replace(content, 'CB1', 'xxx') WHERE type = 'flow.input'`.execute(days.db);
    expect(await kept()).toHaveLength(1);
    expect(JSON.stringify((await counted()).steps)).not.toContain('CB1');
    await days.db.deleteFrom('calls').where('id', '=', 'CB2').execute();
    const last = await counted();
    expect([last.calls, JSON.stringify(last.steps).includes('CB2')]).toEqual([3, false]);
  });

  it.runIf(isThere)('are not kept of a day that changed while it was counted', async () => {
    const days = await databases.open();
    const { tell } = openToldGateway(days, { clock: systemClock });
    await tell(...flowCall('CB1', [{ step: 'menu' }, { end: 'done' }]));
    const store = new FlowDays(days);
    const begunAt = await store.begin(PERIOD.fromMs);
    await days.db.deleteFrom('calls').execute();
    const nothing = new FlowCount({ flow: 'shop', version: null, within: [] }).save();
    await store.store(PERIOD.fromMs, 'scope', nothing, begunAt);
    expect(await store.find(PERIOD.fromMs, 'scope')).toBeNull();
    await store.store(PERIOD.fromMs, 'scope', nothing, await store.begin(PERIOD.fromMs));
    expect(await store.find(PERIOD.fromMs, 'scope')).toEqual(nothing);
  });

  it.runIf(isThere)('are nothing for calls of before, whose records are brought up to date', async () => {
    const earlier = await databases.openAt('0002-words');
    const { db, kind } = earlier;
    await sql`INSERT INTO calls (id, carrier, state, gateway, started_ms, duration_ms, parameters, tracks, finals,
      spoken, keys, gaps) VALUES ('CA1', 'sip', 'ended', 'g', 1, 0, '{}', '[]', 0, 0, 0, 0)`.execute(db);
    await migrate(db, kind);
    const { records } = openToldGateway(earlier, { clock: systemClock });
    expect(await records.calls.get('CA1')).toMatchObject({ flow: null, flowVersion: null });
    expect(await records.flows.callsSince('shop', 0)).toMatchObject({ calls: 0 });
  });
});
