import { describe, expect, it } from 'vitest';
import { RemoteEngine } from '../../../src/engine-client/remote/remote-engine.ts';
import { RemoteMember } from '../../../src/engine-client/remote/remote-member.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';
import { FakeManagedEngine } from '../../fakes/recogniser-pair.ts';
import { FakeRecogniser } from '../../fakes/remote-recogniser.ts';

/** A server of ASR_URL for each number of requests that it may have. */
function openEngine(...places: number[]) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const servers = places.map((_, index) => new FakeRecogniser(`far${index}`, clock));
  const members = servers.map((recogniser, index) => {
    const name = `server${index}`;
    const url = new URL(`http://${name}.example:8000/v1?key=secret`);
    const terms = { name, url, weight: 1, languages: ['de'], inFlightMax: places[index] ?? null };
    return new RemoteMember({ ...terms, recogniser, clock, log: createLog('silent'), metrics });
  });
  const embedded = new FakeManagedEngine(clock);
  const engine = new RemoteEngine({ embedded, members, speech: null, clock, metrics });
  return { engine, servers, clock };
}

/** As many partial captions, one behind the other, each of an utterance of its own. */
async function partials({ engine, clock }: ReturnType<typeof openEngine>, count: number): Promise<void> {
  for (let stream = 0; stream < count; stream++) {
    const request = { samples: new Int16Array(1600), urgency: 'partial', dueInMs: 400, draft: [], stream } as const;
    const reading = engine.transcribe(request).catch(() => null);
    await settle();
    await clock.run(200, 10);
    await reading;
  }
}

describe('the report', () => {
  it('of a server tells its address without a query, how it answers and what failed last', async () => {
    const all = openEngine(8);
    const { engine, servers, clock } = all;
    Object.assign(servers[0] as object, { answerMs: 40 });
    await partials(all, 10);
    expect(engine.report.servers).toEqual([
      {
        setting: 'ASR_URL',
        url: 'http://server0.example:8000/v1',
        protocol: 'http',
        state: 'closed',
        inFlight: 0,
        inFlightMax: 8,
        p50Ms: 40,
        p95Ms: 40,
        lastError: null,
        languages: ['de'],
      },
    ]);
    Object.assign(servers[0] as object, { failure: 'failed' });
    await partials(all, 3);
    const lastError = { at: expect.any(Date), message: 'it was told to be failed' };
    expect(engine.report.servers[0]).toMatchObject({ state: 'open', lastError });
    clock.advance(2000);
    expect(engine.report.servers[0]?.state).toBe('half_open');
  });

  it('of their use is the share of their places or of the time of partial captions, of those that answer', async () => {
    const all = openEngine(10, 30);
    const { engine, servers } = all;
    expect(engine.remoteUse).toBe(0);
    for (const [index, answerMs] of [200, 40].entries()) Object.assign(servers[index] as object, { answerMs });
    await partials(all, 40);
    expect(engine.remoteUse).toBeCloseTo((0.5 * 10 + 0.1 * 30) / 40, 1);
    for (const server of servers) Object.assign(server, { failure: 'failed', answerMs: 0 });
    await partials(all, 10);
    expect(engine.remoteUse).toBeNull();
  });
});
