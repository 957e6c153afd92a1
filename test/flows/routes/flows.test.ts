import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FlowState } from '../../../src/flows/file/flow-folder.ts';
import { flowSetOf } from '../../../src/flows/file/flow-set.ts';
import { readFlow } from '../../../src/flows/file/read-flow.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { settle } from '../../fakes/clock.ts';
import { FakePeople } from '../../fakes/people.ts';
import { startServer, type TestServer } from '../../http/test-server.ts';
import { DATABASES } from '../../records/databases.ts';
import { flowCall } from '../../records/flows/told-flows.ts';

const databases = DATABASES[0].start();
afterAll(() => databases.end());

let server: TestServer;
afterEach(async () => {
  await server.app.close();
  await server.kept?.records.close();
});

/** The flows of dialplans/ivr, as if they were used. */
function flowFile(name: string, changes: Partial<FlowState> = {}): FlowState {
  const file = `${name}.yaml`;
  const { flow } = readFlow(readFileSync(packagePath('dialplans', 'ivr', file), 'utf8'), name);
  if (flow === null) throw new Error('expected a flow');
  const set = flowSetOf(name, new Map([[name, flow]]));
  const sinceMs = server.clock.wall().getTime();
  return { name, file, set, sinceMs, errors: [], warnings: [], refusedSinceMs: null, ...changes };
}

/** What the answers have, as far as it is looked at. */
interface Body {
  readonly data: readonly Record<string, unknown>[];
  readonly flows: readonly { name: string; start: string; steps: { name: string; exits: { to: string }[] }[] }[];
  readonly steps: readonly { step: string; exits: unknown[] }[];
  readonly versions: readonly unknown[];
  readonly outcomes: object;
  readonly calls: number;
  readonly error: { readonly code: string; readonly param: string | null };
}

async function ask(path: string, key = ''): Promise<{ status: number; body: Body }> {
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` };
  const answer = await server.app.inject({ url: path, headers });
  return { status: answer.statusCode, body: answer.json<Body>() };
}

describe('the flows', () => {
  beforeEach(async () => {
    server = await startServer();
  });

  it('are none where no folder is set', async () => {
    expect(await ask('/v1/flows')).toEqual({ status: 200, body: { data: [], next: null } });
  });

  it('are listed with what is wrong with them, and whether calls can use them', async () => {
    const errors = [{ line: 4, column: 7, message: 'steps.menu.next: got "hous", expected a step' }];
    const refusedSinceMs = server.clock.wall().getTime();
    server.flowFiles.push(
      flowFile('shop'),
      flowFile('appointment', { errors, refusedSinceMs }),
      flowFile('order-status', { set: null, sinceMs: null, errors, refusedSinceMs }),
    );
    const { body } = await ask('/v1/flows');
    expect(body.data.map(({ name, state, calls }) => [name, state, calls])).toEqual([
      ['appointment', 'kept', null],
      ['order-status', 'refused', null],
      ['shop', 'used', null],
    ]);
    expect(body.data[1]).toMatchObject({ version: null, since: null, errors, refusedSince: expect.any(String) });
    expect(body.data[2]?.['version']).toMatch(/^[0-9a-f]{8}$/);
  });

  it('have steps that lead somewhere', async () => {
    server.flowFiles.push(flowFile('shop'));
    const { body } = await ask('/v1/flows/shop');
    const [shop] = body.flows;
    if (shop === undefined) throw new Error('expected a flow');
    expect(shop.name).toBe('shop');
    const names = shop.steps.map(({ name }) => name);
    expect(names).toContain(shop.start);
    for (const { exits } of shop.steps)
      for (const { to } of exits) expect([...names, 'end', 'back', 'repeat']).toContain(to);
  });

  it('that are not there are said so, and figures need records', async () => {
    expect(await ask('/v1/flows/shop')).toMatchObject({ status: 404, body: { error: { code: 'flow_not_found' } } });
    const { status, body } = await ask('/v1/flows/shop/statistics');
    expect([status, body.error.code]).toEqual([501, 'records_off']);
  });
});

describe('the statistics of a flow', () => {
  const BEGAN = '2026-01-01T00:00:00.000Z';
  beforeEach(async () => {
    const people = new FakePeople().with('ann', 'supervisor', { kind: 'key' }).with('bob', 'agent', { kind: 'key' });
    server = await startServer({}, undefined, people, null, await databases.open());
    server.flowFiles.push(flowFile('shop'));
    const events = [
      ...flowCall('CA1', [{ step: 'menu' }, { noMatch: 'Pizza' }, { step: 'person' }, { end: 'transferred' }], {
        startedAt: BEGAN,
      }),
      ...flowCall('CA2', [{ step: 'menu' }, { end: 'hangup' }], { startedAt: BEGAN, version: '0b0b0b0b' }),
      ...flowCall('CA3', [{ step: 'menu' }, { end: 'done' }], { startedAt: BEGAN, flow: 'gone' }),
    ];
    for (const event of events) server.feed.publish(event);
    server.clock.advance(1000);
    await settle();
    await server.kept?.records.recorder.settled();
  });

  it('say where calls went, of one version or of all', async () => {
    const { body } = await ask('/v1/flows/shop/statistics', 'anns-key');
    expect(body).toMatchObject({ flow: 'shop', version: null, calls: 2, isComplete: true });
    expect(body.outcomes).toMatchObject({ transferred: 1, hangup: 1, done: 0 });
    const menu = body.steps.find(({ step }) => step === 'menu');
    expect(menu).toMatchObject({
      calls: 2,
      hangups: 1,
      noMatches: 1,
      time: { p50Ms: 1000, p95Ms: 2000 },
      unmatched: [{ text: 'Pizza', kind: 'speech', count: 1 }],
    });
    expect(menu?.exits).toContainEqual({
      kind: 'step',
      flow: 'shop',
      step: 'person',
      reason: 'noMatch',
      detail: null,
      count: 1,
    });
    expect(menu?.exits).toContainEqual({
      kind: 'hangup',
      flow: null,
      step: null,
      reason: null,
      detail: null,
      count: 1,
    });
    const one = await ask('/v1/flows/shop/statistics?version=0b0b0b0b', 'anns-key');
    expect([one.body.calls, one.body.versions.length]).toEqual([1, 2]);
    const list = await ask('/v1/flows', 'anns-key');
    expect(list.body.data[0]?.['calls']).toEqual({ count: 2, isMore: false, last: BEGAN });
  });

  it('are those of the period, also of a flow whose file is gone', async () => {
    const earlier = await ask(`/v1/flows/shop/statistics?to=${BEGAN}`, 'anns-key');
    expect([earlier.status, earlier.body.calls]).toEqual([200, 0]);
    expect(await ask('/v1/flows/gone/statistics', 'anns-key')).toMatchObject({ status: 200, body: { calls: 1 } });
    expect(await ask('/v1/flows/other/statistics', 'anns-key')).toMatchObject({
      status: 404,
      body: { error: { code: 'flow_not_found' } },
    });
  });

  it('are refused for a period that ends before it begins', async () => {
    const { status, body } = await ask(`/v1/flows/shop/statistics?from=${BEGAN}&to=${BEGAN}`, 'anns-key');
    expect([status, body.error.param]).toEqual([400, 'from']);
  });

  it('are not for agents, who may not read all calls', async () => {
    for (const path of ['/v1/flows', '/v1/flows/shop', '/v1/flows/shop/statistics'])
      expect(await ask(path, 'bobs-key')).toMatchObject({ status: 403, body: { error: { code: 'role_refused' } } });
  });

  it('are of calls that a list finds by their flow', async () => {
    const { body } = await ask('/v1/calls?flow=shop', 'anns-key');
    expect(body.data.map(({ id, flow, flowVersion }) => [id, flow, flowVersion])).toEqual([
      ['CA1', 'shop', '0a0a0a0a'],
      ['CA2', 'shop', '0b0b0b0b'],
    ]);
    expect((await ask('/v1/calls/CA3', 'anns-key')).body).toMatchObject({ flow: 'gone' });
  });
});
