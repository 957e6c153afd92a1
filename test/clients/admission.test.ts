import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakePeople } from '../fakes/people.ts';
import { listen, liveCall, startServer, type TestServer, upgradeStatus } from '../http/test-server.ts';

const LINEAR = 'encoding=linear16&sample_rate=16000';

let testServer: TestServer;
afterEach(() => testServer.app.close());

it.each([
  ['/v1/listen', `${LINEAR}&language=en`],
  ['/v2/listen', `${LINEAR}&language=en`],
])('clients that wait for the engine together get no more places than there are: %s', async (path, query) => {
  testServer = await startServer({ LISTENERS_MAX: '2' });
  const { engine } = testServer;
  engine.languages = [];
  let waiting = 0;
  let release: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    release = resolve;
  });
  engine.start = async () => {
    if (++waiting === 8) release();
    await all;
    engine.languages = ['en'];
  };
  const url = await listen(testServer.app);
  const statuses = await Promise.all(Array.from({ length: 8 }, () => upgradeStatus(`${url}${path}?${query}`)));
  expect(statuses.filter((status) => status === 101)).toHaveLength(2);
  expect(statuses.filter((status) => status === 503)).toHaveLength(6);
});

it.each([
  [`/v1/listen?${LINEAR}`, 101],
  [`/v2/listen?${LINEAR}`, 101],
  ['/v1/speak', 101],
  ['/v2/speak', 101],
  ['/v1/realtime', 101],
  ['/jambonz/stt', 101],
  ['/jambonz/tts', 101],
  ['/v1/listen?call=c1', 403],
])('a short-lived key is for audio and speech, and for no call: %s → %i', async (path, status) => {
  testServer = await startServer({ API_KEYS: 'key-1' });
  testServer.calls.views.push(liveCall('c1'));
  const headers = { authorization: 'Bearer key-1' };
  const granted = await testServer.app.inject({ method: 'POST', url: '/v1/auth/grant', headers, payload: {} });
  const { access_token: token } = granted.json<{ access_token: string }>();
  const url = await listen(testServer.app);
  expect(await upgradeStatus(url + path, { authorization: `Bearer ${token}` })).toBe(status);
});

it.each([`/v1/listen?${LINEAR}&`, `/v2/listen?${LINEAR}&`, '/v1/speak?', '/v1/realtime?', '/ws/transcribe?'])(
  'a key may be in the address alone, and stays out of the log: %s',
  async (path) => {
    testServer = await startServer({ API_KEYS: 'key-of-the-address' });
    const url = await listen(testServer.app);
    expect(await upgradeStatus(`${url}${path}token=key-of-the-address`)).toBe(101);
    expect(await upgradeStatus(`${url}${path}token=key-of-the-wrong`)).toBe(401);
    expect(await upgradeStatus(`${url}${path}x=y`)).toBe(401);
    expect(testServer.logLines.join('')).not.toMatch(/key-of-the|"token"/);
  },
);

it('a short-lived key ends with the user who asked for it', async () => {
  const people = new FakePeople().with('crm', 'app', { kind: 'key' });
  testServer = await startServer({}, undefined, people);
  const headers = { authorization: 'Bearer crms-key' };
  const granted = await testServer.app.inject({ method: 'POST', url: '/v1/auth/grant', headers, payload: {} });
  const { access_token: token } = granted.json<{ access_token: string }>();
  await people.users.remove('crm');
  const url = await listen(testServer.app);
  expect(await upgradeStatus(`${url}/v1/listen?${LINEAR}`, { authorization: `Bearer ${token}` })).toBe(401);
});

it('a short-lived key takes no content that is nested too deep', async () => {
  testServer = await startServer({ API_KEYS: 'key-1' });
  const answer = await testServer.app.inject({
    method: 'POST',
    url: '/v1/realtime/client_secrets',
    headers: { authorization: 'Bearer key-1', 'content-type': 'application/json' },
    payload: `{"session":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`,
  });
  expect(answer.statusCode).toBe(400);
});

it('a short-lived key ends with the session that asked for it, and so do its sockets', async () => {
  testServer = await startServer({ API_KEYS: 'key-1' });
  const signedIn = await testServer.app.inject({ method: 'POST', url: '/v1/session', payload: { key: 'key-1' } });
  const headers = { cookie: String(signedIn.headers['set-cookie']).split(';')[0] ?? '' };
  const grant = async (asked: Record<string, string>): Promise<Record<string, string>> => {
    const request = { method: 'POST', url: '/v1/auth/grant', headers: asked, payload: {} } as const;
    const { access_token: token } = (await testServer.app.inject(request)).json<{ access_token: string }>();
    return { authorization: `Bearer ${token}` };
  };
  const [ofSession, ofKey] = [await grant(headers), await grant({ authorization: 'Bearer key-1' })];
  const url = `${await listen(testServer.app)}/v1/listen?${LINEAR}`;
  const socket = new WebSocket(url.replace('http', 'ws'), { headers: ofSession });
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers });
  expect((await closed)[0]).toBe(4001);
  expect([await upgradeStatus(url, ofSession), await upgradeStatus(url, ofKey)]).toEqual([401, 101]);
});

it('a browser with a short-lived key leaves half of the places to others, and gives a silent one up', async () => {
  testServer = await startServer({ API_KEYS: 'key-1', LISTENERS_MAX: '4' });
  const headers = { authorization: 'Bearer key-1' };
  const granted = await testServer.app.inject({
    method: 'POST',
    url: '/v1/auth/grant',
    headers,
    payload: { ttl_seconds: 600 },
  });
  const { access_token: token } = granted.json<{ access_token: string }>();
  const url = await listen(testServer.app);
  const open = async (path: string, key: string): Promise<WebSocket> => {
    const socket = new WebSocket(url.replace(/^http/, 'ws') + path, { headers: { authorization: `Bearer ${key}` } });
    await once(socket, 'open');
    return socket;
  };
  const first = await open(`/v1/listen?${LINEAR}`, token);
  await open('/v1/realtime', token);
  expect(await upgradeStatus(`${url}/jambonz/stt`, { authorization: `Bearer ${token}` })).toBe(503);
  await open('/ws/transcribe', 'key-1');
  testServer.clock.advance(30_000);
  // What keeps the socket open is no sound.
  first.send('{"type":"KeepAlive"}');
  await testServer.clock.run(30_000, 1000);
  const closed = once(first, 'close');
  const another = await open('/jambonz/stt', token);
  const [code, reason] = (await closed) as [number, Buffer];
  expect([code, String(reason)]).toEqual([1011, 'NET-0001']);
  another.terminate();
});
