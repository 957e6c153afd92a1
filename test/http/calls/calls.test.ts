import { afterEach, describe, expect, it, vi } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { FakeVoice } from '../../fakes/voice.ts';
import { liveCall, startServer, type TestServer } from '../test-server.ts';

/** A page of calls. */
interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next: string | null;
}

let testServer: TestServer;
afterEach(() => testServer.app.close());

const FINALS = [
  {
    kind: 'caption' as const,
    track: 'inbound' as const,
    utterance: 1,
    text: 'Hello & welcome.',
    startMs: 320,
    endMs: 1480,
  },
  {
    kind: 'caption' as const,
    track: 'outbound' as const,
    utterance: 1,
    version: 3,
    text: 'Hi.',
    startMs: 1500,
    endMs: 2000,
  },
];

async function openWithCalls(): Promise<void> {
  testServer = await startServer();
  const ended = { ...liveCall('CA2'), state: 'ended' as const, endedAt: '2026-01-01T00:01:00.000Z', lagMs: 85 };
  testServer.calls.views.push(liveCall('CA1'), ended);
  testServer.calls.captions.set('CA1', FINALS);
  testServer.calls.captions.set('CA2', []);
}

describe('GET /v1/calls', () => {
  it('lists the calls in the documented shape', async () => {
    await openWithCalls();
    expect((await testServer.app.inject('/v1/calls')).json()).toEqual({ data: testServer.calls.views, next: null });
  });

  it('lists them page by page: those being made, live ones, ended ones, each the latest first', async () => {
    testServer = await startServer();
    const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;
    const ended = (id: string, minute: number) => ({ ...liveCall(id), state: 'ended' as const, endedAt: at(minute) });
    testServer.calls.views.push(
      ended('e1', 1),
      { ...liveCall('l1'), startedAt: at(1) },
      ended('e2', 2),
      { ...liveCall('d1'), state: 'dialing' },
      { ...liveCall('l2'), startedAt: at(2) },
    );
    const read = async (query: string) => (await testServer.app.inject(`/v1/calls?${query}`)).json() as Page;
    const first = await read('limit=2');
    expect(first).toMatchObject({ data: [{ id: 'd1' }, { id: 'l2' }], next: expect.any(String) });
    // A call that ends meanwhile, and one that is forgotten, shift nothing.
    Object.assign(testServer.calls.views[1] ?? {}, { state: 'ended', endedAt: at(3) });
    testServer.calls.views.splice(0, 1);
    const second = await read(`limit=2&cursor=${first.next}`);
    expect(second.data.map(({ id }) => id)).toEqual(['l1', 'e2']);
    expect(second.next).toBeNull();
    expect((await read(`cursor=${first.next}`)).data).toHaveLength(2);
  });

  it.each([
    ['limit=0', 'query.limit: got "0", expected at least 1'],
    ['limit=1001', 'query.limit: got "1001", expected at most 1000'],
    ['limit=1.5', 'query.limit: got "1.5", expected a whole number'],
    ['limit=many', 'query.limit: got "many", expected a number'],
    ['cursor=abc', 'query.cursor: got "abc", expected the `next` of an earlier answer'],
  ])('refuses ?%s', async (query, message) => {
    testServer = await startServer();
    const answer = await testServer.app.inject(`/v1/calls?${query}`);
    expect([answer.statusCode, answer.json().error]).toMatchObject([400, { code: 'invalid_request', message }]);
  });

  it('shows one call, and says that another does not exist', async () => {
    await openWithCalls();
    expect((await testServer.app.inject('/v1/calls/CA2')).json()).toEqual(testServer.calls.views[1]);
    const missing = await testServer.app.inject('/v1/calls/CA3');
    expect([missing.statusCode, missing.json().error.code]).toEqual([404, 'call_not_found']);
  });

  it('finds a call whose id needs escaping in a path', async () => {
    await openWithCalls();
    const id = `CA/${'x'.repeat(120)}:MZ?1`;
    testServer.calls.views.push(liveCall(id));
    expect((await testServer.app.inject(`/v1/calls/${encodeURIComponent(id)}`)).json()).toMatchObject({ id });
  });
});

describe('POST /v1/calls/:id/hangup', () => {
  it('ends a live call', async () => {
    await openWithCalls();
    const answer = await testServer.app.inject({ method: 'POST', url: '/v1/calls/CA1/hangup' });
    expect([answer.statusCode, answer.json(), testServer.calls.hungUp]).toEqual([202, { id: 'CA1' }, ['CA1']]);
  });

  it.each(['CA2', 'CA3'])('has nothing to end for %s', async (id) => {
    await openWithCalls();
    const answer = await testServer.app.inject({ method: 'POST', url: `/v1/calls/${id}/hangup` });
    expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'call_not_found']);
  });
});

describe('the voice of a call', () => {
  async function openWithVoice(): Promise<FakeVoice> {
    await openWithCalls();
    const voice = new FakeVoice();
    testServer.calls.voices.set('CA1', voice);
    return voice;
  }
  const post = (action: string, payload?: object, id = 'CA1') =>
    testServer.app.inject({
      method: 'POST',
      url: `/v1/calls/${id}/${action}`,
      ...(payload === undefined ? {} : { payload }),
    });

  it('says a text', async () => {
    const voice = await openWithVoice();
    const answer = await post('say', { text: 'Hello.', voice: 'slt', interruptible: 'dtmf' });
    expect([answer.statusCode, answer.json()]).toEqual([202, { utterance: 'u1' }]);
    expect(voice.asked).toMatchObject([
      { text: 'Hello.', ended: true, options: { voice: 'slt', interruptible: 'dtmf' } },
    ]);
  });

  it('asks for digits', async () => {
    const voice = await openWithVoice();
    const digits = { min: 4, max: 6 };
    expect((await post('say', { text: 'Your PIN?', expects: { digits } })).statusCode).toBe(202);
    expect(voice.asked).toMatchObject([{ options: { expectsDigits: digits } }]);
  });

  it.each([
    {},
    { text: '' },
    { text: 7 },
    { text: 'x', interruptible: 'sometimes' },
    { text: 'x', loud: true },
    { text: 'x', expects: {} },
    { text: 'x', expects: { digits: { min: 5, max: 4 } } },
    { text: 'x', expects: { digits: { min: 0 } } },
  ])('does not say %j', async (payload) => {
    const voice = await openWithVoice();
    const answer = await post('say', payload);
    expect([answer.statusCode, answer.json().error.code, voice.asked]).toEqual([400, 'invalid_request', []]);
  });

  it('passes on why something cannot be said', async () => {
    const voice = await openWithVoice();
    voice.refusal = new TrunklineError('speech_queue_full', 'too much waits');
    const answer = await post('say', { text: 'Hello.' });
    expect([answer.statusCode, answer.json().error]).toMatchObject([
      429,
      { code: 'speech_queue_full', message: 'too much waits' },
    ]);
  });

  it('takes no text beyond the size of a body', async () => {
    await openWithVoice();
    const answer = await post('say', { text: 'x'.repeat(100_000) });
    expect([answer.statusCode, answer.json().error.code]).toEqual([413, 'message_too_large']);
  });

  it('falls silent and tells what was heard', async () => {
    const voice = await openWithVoice();
    const heard = { utterance: 'u1', text: 'Hello there.', heardText: 'Hello', playedMs: 420 };
    vi.spyOn(voice, 'interrupt').mockReturnValueOnce(heard as never);
    expect((await post('interrupt')).json()).toEqual({ interrupted: heard });
    const again = await post('interrupt');
    expect([again.statusCode, again.json()]).toEqual([200, { interrupted: null }]);
  });

  it('presses keys', async () => {
    const voice = await openWithVoice();
    const answer = await post('dtmf', { digits: '12w#' });
    expect([answer.statusCode, answer.json(), voice.digits]).toEqual([202, { id: 'CA1' }, ['12w#']]);
  });

  it.each([
    ['say', { text: 'Hello.' }],
    ['interrupt', undefined],
    ['dtmf', { digits: '1' }],
  ])('is not there to %s when the call is not live', async (action, payload) => {
    await openWithVoice();
    const answer = await post(action, payload, 'CA2');
    expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'call_not_found']);
  });
});

describe('GET /v1/calls/:id/transcript', () => {
  it('says which version a text is that was revised', async () => {
    await openWithCalls();
    const { data } = (await testServer.app.inject('/v1/calls/CA1/transcript')).json();
    expect(data.map(({ version }: { version?: number }) => version)).toEqual([undefined, 3]);
  });

  it.each([
    [
      '',
      'application/json; charset=utf-8',
      /^\{"data":\[\{"kind":"caption","track":"inbound","utterance":1,"text":"Hello & welcome\.","startMs":320,"endMs":1480,"speaker":"inbound"\},/,
    ],
    ['?format=json', 'application/json; charset=utf-8', /^\{"data":\[\{"kind":"caption"/],
    ['?format=text', 'text/plain; charset=utf-8', /^\[.*\] inbound: Hello & welcome\.\n/],
    ['?format=srt', 'application/x-subrip; charset=utf-8', /^1\n00:00:00,320 --> 00:00:01,480\n/],
    [
      '?format=vtt',
      'text/vtt; charset=utf-8',
      /^WEBVTT\n\n00:00:00\.320 --> 00:00:01\.480\n<v inbound>Hello &amp; welcome\./,
    ],
    ['?format=csv', 'text/csv; charset=utf-8; header=present', /^startMs,.*\r\n320,1480,caption,inbound,inbound,Hello/],
    ['?format=jsonl', 'application/jsonl; charset=utf-8', /^\{"kind":"caption".*"speaker":"inbound"\}\n\{/],
  ])('with "%s" is %s', async (query, type, body) => {
    await openWithCalls();
    const answer = await testServer.app.inject(`/v1/calls/CA1/transcript${query}`);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, type]);
    expect(answer.body).toMatch(body);
  });

  it('has gaps among the captions, in the order of their start', async () => {
    await openWithCalls();
    const gap = { kind: 'gap' as const, track: 'inbound' as const, startMs: 0, endMs: 200, reason: 'media' as const };
    testServer.calls.captions.set('CA2', [...FINALS, gap]);
    expect((await testServer.app.inject('/v1/calls/CA2/transcript')).json()).toEqual({
      data: [gap, ...FINALS].map((item) => ({ ...item, speaker: item.track })),
    });
  });

  it('names the speakers of a call whose names were given', async () => {
    await openWithCalls();
    const names = { inbound: 'Maria K.', outbound: null };
    testServer.calls.views[0] = { ...liveCall('CA1'), names };
    const text = (await testServer.app.inject('/v1/calls/CA1/transcript?format=text')).body;
    expect(text.split('\n').map((line) => line.slice(12))).toEqual(['Maria K.: Hello & welcome.', 'outbound: Hi.', '']);
  });

  it('is empty before the first final, and missing for a call that never was', async () => {
    await openWithCalls();
    expect((await testServer.app.inject('/v1/calls/CA2/transcript')).json()).toEqual({ data: [] });
    const missing = await testServer.app.inject('/v1/calls/CA3/transcript');
    expect([missing.statusCode, missing.json().error.code]).toEqual([404, 'call_not_found']);
  });
});

describe('POST /v1/calls', () => {
  const dial = (payload: object) => testServer.app.inject({ method: 'POST', url: '/v1/calls', payload });

  it('makes a call and shows it ringing', async () => {
    testServer = await startServer({ SIP_PORT: '5060' });
    const parameters = { bargeIn: 'off' };
    const response = await dial({ to: '+14155550100', from: '1001', app: 'wss://app.example.com/calls', parameters });
    expect(response.statusCode).toBe(201);
    expect(response.json()).toMatchObject({
      id: 'out-1',
      carrier: 'sip',
      from: '1001',
      to: '+14155550100',
      state: 'dialing',
    });
    expect(testServer.calls.outgoing).toEqual([
      {
        to: '+14155550100',
        from: '1001',
        app: 'wss://app.example.com/calls',
        trunk: null,
        timeoutMs: 60_000,
        parameters,
      },
    ]);
  });

  it('makes a call in which a flow talks, unless a parameter names another one', async () => {
    testServer = await startServer({ SIP_PORT: '5060' });
    await dial({ to: '1001', flow: 'survey' });
    await dial({ to: '1001', flow: 'survey', trunk: 'carrier', parameters: { flow: 'shop' } });
    expect(testServer.calls.outgoing).toMatchObject([
      { parameters: { flow: 'survey' } },
      { parameters: { flow: 'shop' }, trunk: 'carrier' },
    ]);
  });

  it('needs to know no more than whom to call', async () => {
    testServer = await startServer({ SIP_PORT: '5060' });
    expect((await dial({ to: '*98#' })).statusCode).toBe(201);
    expect(testServer.calls.outgoing).toEqual([
      { to: '*98#', from: null, app: null, trunk: null, timeoutMs: 60_000, parameters: {} },
    ]);
  });

  it('lets it ring for as long as it is told', async () => {
    testServer = await startServer({ SIP_PORT: '5060' });
    await dial({ to: '1', timeoutMs: 15_000 });
    expect(testServer.calls.outgoing).toMatchObject([{ timeoutMs: 15_000 }]);
  });

  it.each([
    {},
    { to: '' },
    { to: 'a@b' },
    { to: 'sip:a' },
    { to: '1 2' },
    { to: '1'.repeat(65) },
    { to: '1', from: '<x>' },
    { to: '1', app: 'https://app.example.com' },
    { to: '1', parameters: { a: 1 } },
    { to: '1', parameters: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`p${i}`, ''])) },
    { to: '1', timeout: 5 },
    { to: '1', timeoutMs: 999 },
    { to: '1', timeoutMs: 300_001 },
  ])('refuses %o', async (payload) => {
    testServer = await startServer({ SIP_PORT: '5060' });
    expect((await dial(payload)).json().error.code).toBe('invalid_request');
    expect(testServer.calls.outgoing).toEqual([]);
  });

  it('says so where SIP is closed', async () => {
    testServer = await startServer();
    const response = await dial({ to: '+14155550100' });
    expect([response.statusCode, response.json().error.code]).toEqual([501, 'dialing_unavailable']);
  });

  it('asks for a key where there are keys', async () => {
    testServer = await startServer({ SIP_PORT: '5060', API_KEYS: 'k' });
    expect((await dial({ to: '1' })).statusCode).toBe(401);
    expect(testServer.calls.outgoing).toEqual([]);
  });
});
