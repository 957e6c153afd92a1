import { afterEach, describe, expect, it } from 'vitest';
import { type Doors, knock, listen, openDoors } from './doors.ts';

const KEYS = { API_KEYS: 'first-key,second-key' };
const GUARDED = ['/v1/calls', '/v1/calls/CA1', '/v1/calls/CA1/transcript', '/v1/captions', '/metrics', '/docs', '/docs/json'];

let doors: Doors;
afterEach(() => doors.app.close());

const codeOf = (answer: { body: string }) => (JSON.parse(answer.body) as { error: { code: string } }).error.code;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function signIn(key: string, headers: Record<string, string> = {}) {
  return doors.app.inject({ method: 'POST', url: '/v1/session', headers, payload: { key } });
}

describe('with API_KEYS', () => {
  it.each(GUARDED)('%s asks for a key', async (url) => {
    doors = await openDoors(KEYS);
    const answer = await doors.app.inject(url);
    expect([answer.statusCode, codeOf(answer), answer.headers['www-authenticate']]).toEqual([401, 'api_key_missing', 'Bearer']);
  });

  it.each(['first-key', 'second-key'])('lets %s in', async (key) => {
    doors = await openDoors(KEYS);
    expect((await doors.app.inject({ url: '/v1/calls', headers: bearer(key) })).statusCode).toBe(200);
  });

  it.each(['first-ke', 'first-key2', 'first-key,second-key', 'FIRST-KEY'])('does not let %s in, nor repeats it', async (key) => {
    doors = await openDoors(KEYS);
    const answer = await doors.app.inject({ url: '/v1/calls', headers: bearer(key) });
    expect([answer.statusCode, codeOf(answer)]).toEqual([401, 'invalid_api_key']);
    expect(answer.body + doors.logLines.join('')).not.toContain(key);
  });

  it('asks for the key before it looks at the request', async () => {
    doors = await openDoors(KEYS);
    expect(codeOf(await doors.app.inject('/v1/calls?limit=nonsense'))).toBe('api_key_missing');
  });

  it('lets the page and the health door be seen by anyone, without details', async () => {
    doors = await openDoors(KEYS);
    expect((await doors.app.inject('/health')).json()).toEqual({ status: 'ok' });
    expect((await doors.app.inject('/ready')).json()).toEqual({ status: 'ready' });
    expect((await doors.app.inject('/')).statusCode).toBe(200);
  });

  it('refuses an upgrade without a key before it happens', async () => {
    doors = await openDoors(KEYS);
    const url = await listen(doors.app);
    expect(await knock(`${url}/v1/captions`)).toBe(401);
    expect(await knock(`${url}/v1/captions`, bearer('first-key'))).toBe(101);
  });

  it('asks a request from this machine for its key as well, also with ALLOW_ANONYMOUS', async () => {
    doors = await openDoors({ ...KEYS, ALLOW_ANONYMOUS: 'true' });
    expect((await doors.app.inject('/v1/calls')).statusCode).toBe(401);
  });
});

describe('a browser session', () => {
  it('opens with a key what the key opens, until it is ended', async () => {
    doors = await openDoors(KEYS);
    const cookie = String((await signIn('first-key')).headers['set-cookie']);
    expect(cookie).toMatch(/^trunkline_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    const headers = { cookie: `other=1; ${cookie.split(';')[0]}` };
    expect((await doors.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(200);
    const out = await doors.app.inject({ method: 'DELETE', url: '/v1/session', headers });
    expect([out.statusCode, out.headers['set-cookie']]).toEqual([204, expect.stringContaining('trunkline_session=; Path=/; Max-Age=0')]);
    expect((await doors.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(401);
  });

  it('ends by itself after twelve hours', async () => {
    doors = await openDoors(KEYS);
    const headers = { cookie: String((await signIn('first-key')).headers['set-cookie']).split(';')[0] };
    doors.clock.advance(12 * 3_600_000 - 1);
    expect((await doors.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(200);
    doors.clock.advance(1);
    expect((await doors.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(401);
  });

  it.each(['', 'trunkline_session=', `trunkline_session=${'A'.repeat(43)}`])('is not opened by the cookie "%s"', async (cookie) => {
    doors = await openDoors(KEYS);
    await signIn('first-key');
    expect((await doors.app.inject({ url: '/v1/calls', headers: { cookie } })).statusCode).toBe(401);
  });

  it('gets a cookie for https alone when the browser came by https', async () => {
    doors = await openDoors({ ...KEYS, PUBLIC_URL: 'https://bridge.example.com' });
    expect((await signIn('first-key', { host: 'bridge.example.com' })).headers['set-cookie']).toMatch(/; Secure$/);
    expect((await signIn('first-key', { 'x-forwarded-proto': 'https' })).headers['set-cookie']).toMatch(/; Secure$/);
    expect((await signIn('first-key')).headers['set-cookie']).not.toMatch(/Secure/);
  });

  it('is refused for a wrong key and a wrong body, neither of which is repeated', async () => {
    doors = await openDoors(KEYS);
    const wrong = await signIn('guess-1');
    expect([wrong.statusCode, codeOf(wrong), wrong.headers['set-cookie']]).toEqual([401, 'invalid_api_key', undefined]);
    const misspelt = await doors.app.inject({ method: 'POST', url: '/v1/session', payload: { kee: 'first-key' } });
    expect([misspelt.statusCode, codeOf(misspelt)]).toEqual([400, 'invalid_request']);
    expect(misspelt.body).not.toContain('first-key');
  });

  it('needs no cookie where there are no keys', async () => {
    doors = await openDoors();
    const answer = await signIn('anything');
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([204, undefined]);
  });
});

describe('guessing keys', () => {
  const guess = (key: string, remoteAddress: string, headers = {}) =>
    doors.app.inject({ url: '/v1/calls', remoteAddress, headers: { ...bearer(key), ...headers } });

  it('is stopped after ten wrong ones, right ones included, for that address alone', async () => {
    doors = await openDoors(KEYS);
    for (let i = 0; i < 10; i++) expect((await guess(`guess-${i}`, '192.0.2.1')).statusCode).toBe(401);
    const stopped = await guess('first-key', '192.0.2.1');
    expect([stopped.statusCode, codeOf(stopped), stopped.headers['retry-after']]).toEqual([429, 'too_many_attempts', '60']);
    expect((await guess('first-key', '192.0.2.2')).statusCode).toBe(200);
    doors.clock.advance(6000);
    expect((await guess('first-key', '192.0.2.1')).statusCode).toBe(200);
  });

  it('is counted at every door that looks at keys', async () => {
    doors = await openDoors(KEYS);
    for (let i = 0; i < 5; i++) await doors.app.inject({ url: '/ready', headers: bearer('guess') });
    for (let i = 0; i < 5; i++) await signIn('guess');
    expect((await signIn('first-key')).statusCode).toBe(429);
    expect((await doors.app.inject({ url: '/ready', headers: bearer('first-key') })).json()).toEqual({ status: 'ready' });
  });

  it('is not helped by changing the address within one IPv6 network', async () => {
    doors = await openDoors(KEYS);
    for (let i = 0; i < 10; i++) await guess('guess', `2001:db8::${i}`);
    expect((await guess('first-key', '2001:db8:0:0:ffff::1')).statusCode).toBe(429);
    expect((await guess('first-key', '2001:db8:0:1::1')).statusCode).toBe(200);
  });

  it('locks the stranger out and not his proxy, where one is announced', async () => {
    doors = await openDoors({ ...KEYS, PUBLIC_URL: 'https://bridge.example.com' });
    for (let i = 0; i < 10; i++) await guess('guess', '10.0.0.1', { 'x-forwarded-for': `198.51.100.${i}, 192.0.2.9` });
    expect((await guess('first-key', '10.0.0.1', { 'x-forwarded-for': '192.0.2.9' })).statusCode).toBe(429);
    expect((await guess('first-key', '10.0.0.1', { 'x-forwarded-for': '192.0.2.10' })).statusCode).toBe(200);
  });

  it('cannot be hidden behind a made-up X-Forwarded-For', async () => {
    doors = await openDoors({ ...KEYS, PUBLIC_URL: 'https://bridge.example.com' });
    for (let i = 0; i < 10; i++) await guess('guess', '203.0.113.5', { 'x-forwarded-for': `192.0.2.${i}` });
    expect((await guess('first-key', '203.0.113.5', { 'x-forwarded-for': '192.0.2.99' })).statusCode).toBe(429);
  });
});

describe('without API_KEYS', () => {
  it.each(['localhost:8080', '127.0.0.1', '127.9.9.9:1', '[::1]:8080', 'LOCALHOST'])('answers this machine as %s', async (host) => {
    doors = await openDoors();
    expect((await doors.app.inject({ url: '/v1/calls', headers: { host } })).statusCode).toBe(200);
  });

  it.each([
    ['a name that merely leads here (DNS rebinding)', { host: 'evil.example' }, '127.0.0.1'],
    ['a name that begins like ours', { host: 'localhost.evil.example' }, '127.0.0.1'],
    ['a tunnel that keeps the public name', { host: 'abc.tunnel.example' }, '127.0.0.1'],
    ['a tunnel that rewrites the name', { host: 'localhost:8080', 'x-forwarded-for': '192.0.2.1' }, '127.0.0.1'],
    ['another machine', { host: 'localhost:8080' }, '192.0.2.1'],
  ])('refuses %s', async (_what, headers, remoteAddress) => {
    doors = await openDoors();
    const answer = await doors.app.inject({ url: '/v1/calls', headers, remoteAddress });
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'anonymous_refused']);
    expect((await doors.app.inject({ url: '/ready', headers, remoteAddress })).json()).toEqual({ status: 'ready' });
  });

  it('lets everybody in with ALLOW_ANONYMOUS', async () => {
    doors = await openDoors({ ALLOW_ANONYMOUS: 'true' });
    expect(
      (await doors.app.inject({ url: '/v1/calls', headers: { host: 'bridge.example.com' }, remoteAddress: '192.0.2.1' })).statusCode,
    ).toBe(200);
  });
});

describe("another site's page", () => {
  it.each(['https://evil.example', 'null', 'http://localhost:9999', 'nonsense'])('with Origin %s may not act', async (origin) => {
    doors = await openDoors();
    const answer = await doors.app.inject({ method: 'POST', url: '/v1/calls/CA1/hangup', headers: { host: 'localhost:8080', origin } });
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'origin_refused']);
  });

  it('may not open a WebSocket, our own and programs may', async () => {
    doors = await openDoors();
    const url = await listen(doors.app);
    const captions = `${url}/v1/captions`;
    expect(await knock(captions, { origin: 'https://evil.example' })).toBe(403);
    expect(await knock(captions, { origin: url })).toBe(101);
    expect(await knock(captions)).toBe(101);
  });

  it('gets no permission to read', async () => {
    doors = await openDoors();
    const answer = await doors.app.inject({ url: '/v1/calls', headers: { origin: 'https://evil.example' } });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('is told apart from our own page under PUBLIC_URL', async () => {
    doors = await openDoors({ PUBLIC_URL: 'https://bridge.example.com' });
    const out = (origin: string) => doors.app.inject({ method: 'DELETE', url: '/v1/session', headers: { host: 'inner:8080', origin } });
    expect((await out('https://bridge.example.com')).statusCode).toBe(204);
    expect((await out('http://bridge.example.com')).statusCode).toBe(403);
  });
});
