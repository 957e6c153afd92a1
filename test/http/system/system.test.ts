import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import type { ServerReport } from '../../../src/engine-client/engine-report.ts';
import type { Recognisers } from '../../../src/http/models.ts';
import { startServer, type TestServer } from '../test-server.ts';

const KEY = 'a-key-that-nobody-guesses';

let server: TestServer;
beforeEach(async () => {
  server = await startServer({ APP_URL: 'wss://user:secret@app.example/talk?token=abc', API_KEYS: KEY });
});
afterEach(() => server.app.close());

const ask = (url: string, method: 'GET' | 'POST' = 'GET') =>
  server.app.inject({ method, url, headers: { authorization: `Bearer ${KEY}` } });

async function system() {
  const answer = await ask('/v1/system');
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

function final(callId: string, lagMs: number): FeedEvent {
  const words = { stable: 'Hello.', tail: '', text: 'Hello.', final: true };
  return { type: 'caption', callId, track: 'inbound', utterance: 1, ...words, startMs: 0, endMs: 900, lagMs };
}

function started(callId: string, carrier = 'twilio'): FeedEvent {
  const startedAt = server.clock.wall().toISOString();
  return { ...STARTED, callId, carrier, startedAt } as FeedEvent;
}

const STARTED = {
  type: 'call.started',
  from: null,
  to: null,
  tracks: ['inbound'],
  names: { inbound: null, outbound: null },
  agent: null,
  queue: null,
  app: null,
};

/** A server of ASR_URL that failed a second ago. */
const DOWN: ServerReport = {
  setting: 'ASR_URL',
  url: 'http://gpu.example:8000/v1',
  protocol: 'http',
  state: 'open',
  inFlight: 0,
  inFlightMax: 32,
  p50Ms: 80,
  p95Ms: null,
  lastError: { at: new Date(1000), message: 'it answered 500' },
  languages: ['de'],
};

describe('GET /v1/system', () => {
  it('says how the servers of ASR_URL and TTS_URL are', async () => {
    expect((await system()).servers).toEqual([]);
    Object.assign(server.system, { engines: () => ({ engines: [], queue: [], servers: [DOWN] }) });
    const lastError = { at: '1970-01-01T00:00:01.000Z', message: 'it answered 500' };
    expect((await system()).servers).toEqual([{ ...DOWN, lastError }]);
  });

  it('asks for a key', async () => {
    expect((await server.app.inject({ url: '/v1/system' })).statusCode).toBe(401);
  });

  it('says what runs and for how long', async () => {
    server.clock.advance(5000);
    expect(await system()).toMatchObject({
      uptimeMs: 5000,
      state: 'ready',
      provider: 'cpu',
      models: { asr: 'tone', vad: 'tone', tts: 'tone-1', turn: null },
      voice: 'rms',
      calls: { live: 0, peak: 0, today: 0 },
      records: null,
    });
  });

  it('names the recogniser', async () => {
    expect(await system()).toMatchObject({
      recognisers: [{ role: 'live', reads: 'everything', name: 'moonshine-tiny', languages: null, state: 'ready' }],
      fallbacks: [],
    });
  });

  it('names both recognisers as /health and /v1/models do, and counts why the first one read', async () => {
    const two = await startServer({ ASR_FINAL_MODEL: '/models/large', API_KEYS: KEY });
    const answerOf = async (url: string) =>
      (await two.app.inject({ url, headers: { authorization: `Bearer ${KEY}` } })).json();
    const abilities = { drafts: true } as NonNullable<Recognisers['final']>['abilities'];
    two.health.finalEngine = { state: 'starting', ready: 0, workers: 2 };
    two.metrics.finalFallbacks.inc({ reason: 'not_ready' }, 3);
    const final = { role: 'final', reads: 'finals', name: 'large', languages: null, state: 'starting', workers: 2 };
    expect(await answerOf('/v1/system')).toMatchObject({
      recognisers: [{ role: 'live', reads: 'partials' }, final],
      fallbacks: [{ reason: 'not_ready', count: 3 }],
    });
    two.health.finalEngine = { state: 'ready', ready: 2, workers: 2 };
    two.health.recognisers = {
      live: null,
      final: { name: 'large', languages: ['de', 'en'], abilities, licence: null },
    };
    const { recognisers } = await answerOf('/v1/system');
    expect(recognisers[1]).toMatchObject({ state: 'ready', languages: ['de', 'en'] });
    expect(await answerOf('/health')).toMatchObject({ final_model_id: 'large' });
    expect(await answerOf('/v1/models/large')).toMatchObject({ reads: 'finals', languages: ['de', 'en'] });
    two.health.finalEngine = { state: 'failed', ready: 0, workers: 2 };
    expect((await answerOf('/v1/system')).recognisers[1]).toMatchObject({ state: 'missing' });
    await two.app.close();
  });

  it('counts calls of today and the most at once', async () => {
    for (const id of ['a', 'b']) server.feed.publish(started(id));
    server.feed.publish({ type: 'call.ended', callId: 'a', reason: 'hangup', durationMs: 1 } as FeedEvent);
    server.feed.publish(started('c'));
    expect((await system()).calls).toMatchObject({ peak: 2, today: 3 });
  });

  it('measures how late the finals of the last five minutes were', async () => {
    expect((await system()).finalLag).toMatchObject({ finals: 0, p50Ms: null, p95Ms: null });
    for (let n = 1; n <= 100; n++) server.feed.publish(final('a', n));
    expect((await system()).finalLag).toMatchObject({ finals: 100, p50Ms: 50, p95Ms: 95 });
    server.clock.advance(300_001);
    expect((await system()).finalLag.finals).toBe(0);
  });

  it('says when each way in worked, and when and why it failed', async () => {
    server.feed.publish(started('a', 'telnyx'));
    await server.app.inject({ method: 'POST', url: '/twilio/voice', headers: { host: 'elsewhere.example' } });
    const { waysIn } = await system();
    const way = (id: string) => waysIn.find((each: { id: string }) => each.id === id);
    expect(way('telnyx')).toMatchObject({ workedAt: server.clock.wall().toISOString(), failure: null });
    expect(way('twilio_webhook')).toMatchObject({ protection: 'local', failure: { reason: 'anonymous_refused' } });
    expect(way('twilio_webhook').isFailing).toBe(true);
    expect(way('ari')).toMatchObject({ configured: false, open: false, settings: ['ARI_URL'] });
  });

  it('takes wrong signatures between right ones for those of strangers', async () => {
    const webhook = async () => (await system()).waysIn.find(({ id }: { id: string }) => id === 'twilio_webhook');
    server.metrics.waysIn.worked('twilio_webhook', server.clock.wall());
    const refuse = () => server.metrics.waysIn.failed('twilio_webhook', 'signature_invalid', server.clock.wall());
    refuse();
    refuse();
    expect(await webhook()).toMatchObject({ failure: { reason: 'signature_invalid' }, isFailing: false });
    refuse();
    expect(await webhook()).toMatchObject({ isFailing: true });
    server.metrics.waysIn.worked('twilio_webhook', server.clock.wall());
    expect(await webhook()).toMatchObject({ isFailing: false });
    server.metrics.waysIn.failed('ari', 'unreachable', server.clock.wall());
    const { waysIn } = await system();
    expect(waysIn.find(({ id }: { id: string }) => id === 'ari')).toMatchObject({ isFailing: true });
  });

  it('names the app without what is secret in its address', async () => {
    expect((await system()).apps).toEqual([
      { app: 'wss://app.example/talk', isOwn: true, reachedAt: null, trouble: null },
    ]);
  });

  it('says what was refused and what to do about it', async () => {
    server.metrics.refused.inc({ code: 'too_many_calls' }, 3);
    server.metrics.refused.inc({ code: 'route_not_found' });
    const { refused } = await system();
    expect(refused[0]).toMatchObject({ code: 'too_many_calls', count: 3, refuses: 'calls' });
    expect(refused[0].remedy).toContain('MAX_CALLS');
    expect(refused.at(-1)).toMatchObject({ code: 'route_not_found', refuses: 'requests', remedy: null });
  });
});

describe('the settings in effect', () => {
  it('are listed with secrets hidden', async () => {
    const { data } = (await ask('/v1/system/settings')).json();
    const setting = (name: string) => data.find((each: { name: string }) => each.name === name);
    expect(setting('API_KEYS')).toMatchObject({ value: '(set)', isChanged: true });
    expect(setting('APP_URL').value).not.toMatch(/secret|abc/);
    expect(setting('ENDPOINT_MS')).toMatchObject({ isChanged: false });
  });
});

describe('POST /v1/system/app-test', () => {
  it('says so where no app is set', async () => {
    expect((await ask('/v1/system/app-test', 'POST')).json()).toMatchObject({ reachable: null });
  });
});

describe('POST /v1/demo-call', () => {
  it('answers with the id of the call', async () => {
    const answer = await ask('/v1/demo-call', 'POST');
    expect([answer.statusCode, answer.json()]).toEqual([202, { callId: expect.stringMatching(/^demo-/) }]);
  });
});
