import { afterEach, describe, expect, it } from 'vitest';
import { type Doors, liveCall, openDoors } from './doors.ts';

let doors: Doors;
afterEach(() => doors.app.close());

const FINALS = [
  { track: 'inbound' as const, utterance: 1, text: 'Hello & welcome.', startMs: 320, endMs: 1480 },
  { track: 'outbound' as const, utterance: 1, text: 'Hi.', startMs: 1500, endMs: 2000 },
];

async function openWithCalls(): Promise<void> {
  doors = await openDoors();
  const ended = { ...liveCall('CA2'), state: 'ended' as const, endedAt: '2026-01-01T00:01:00.000Z', lagMs: 85 };
  doors.calls.views.push(liveCall('CA1'), ended);
  doors.calls.captions.set('CA1', FINALS);
  doors.calls.captions.set('CA2', []);
}

describe('GET /v1/calls', () => {
  it('lists the calls in the documented shape', async () => {
    await openWithCalls();
    expect((await doors.app.inject('/v1/calls')).json()).toEqual({ calls: doors.calls.views });
  });

  it('shows one call, and says that another does not exist', async () => {
    await openWithCalls();
    expect((await doors.app.inject('/v1/calls/CA2')).json()).toEqual(doors.calls.views[1]);
    const missing = await doors.app.inject('/v1/calls/CA3');
    expect([missing.statusCode, missing.json().error.code]).toEqual([404, 'call_not_found']);
  });

  it('finds a call whose id needs escaping in a path', async () => {
    await openWithCalls();
    const id = `CA/${'x'.repeat(120)}:MZ?1`;
    doors.calls.views.push(liveCall(id));
    expect((await doors.app.inject(`/v1/calls/${encodeURIComponent(id)}`)).json()).toMatchObject({ id });
  });
});

describe('POST /v1/calls/:id/hangup', () => {
  it('ends a live call', async () => {
    await openWithCalls();
    const answer = await doors.app.inject({ method: 'POST', url: '/v1/calls/CA1/hangup' });
    expect([answer.statusCode, answer.json(), doors.calls.hungUp]).toEqual([202, { id: 'CA1' }, ['CA1']]);
  });

  it.each(['CA2', 'CA3'])('has nothing to end for %s', async (id) => {
    await openWithCalls();
    const answer = await doors.app.inject({ method: 'POST', url: `/v1/calls/${id}/hangup` });
    expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'call_not_found']);
  });
});

describe('GET /v1/calls/:id/transcript', () => {
  it.each([
    [
      '',
      'application/json; charset=utf-8',
      /^\[\{"track":"inbound","utterance":1,"text":"Hello & welcome\.","startMs":320,"endMs":1480\},/,
    ],
    ['?format=json', 'application/json; charset=utf-8', /^\[\{"track":"inbound"/],
    ['?format=text', 'text/plain; charset=utf-8', /^\[.*\] inbound: Hello & welcome\.\n/],
    ['?format=srt', 'application/x-subrip; charset=utf-8', /^1\n00:00:00,320 --> 00:00:01,480\n/],
    ['?format=vtt', 'text/vtt; charset=utf-8', /^WEBVTT\n\n00:00:00\.320 --> 00:00:01\.480\n<v inbound>Hello &amp; welcome\./],
  ])('with "%s" is %s', async (query, type, body) => {
    await openWithCalls();
    const answer = await doors.app.inject(`/v1/calls/CA1/transcript${query}`);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, type]);
    expect(answer.body).toMatch(body);
  });

  it('is empty before the first final, and missing for a call that never was', async () => {
    await openWithCalls();
    expect((await doors.app.inject('/v1/calls/CA2/transcript')).json()).toEqual([]);
    const missing = await doors.app.inject('/v1/calls/CA3/transcript');
    expect([missing.statusCode, missing.json().error.code]).toEqual([404, 'call_not_found']);
  });
});
