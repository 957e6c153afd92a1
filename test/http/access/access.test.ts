import { connect } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { listen, startServer, type TestServer, upgradeStatus } from '../test-server.ts';

const FIRST = 'first-key-of-two-keys';
const SECOND = 'second-key-of-two-keys';
const KEYS = { API_KEYS: `${FIRST},${SECOND}` };
/** Behind a proxy. */
const PUBLIC = { ...KEYS, PUBLIC_URL: 'https://bridge.example.com' };
const GUARDED = [
  '/v1/calls',
  '/v1/calls/CA1',
  '/v1/calls/CA1/transcript',
  '/v1/captions',
  '/metrics',
  '/docs',
  '/docs/json',
];

let testServer: TestServer;
/** Those that tests share which leave nothing behind, by their environment. */
const shared = new Map<object, Promise<TestServer>>();
const NOTHING_SET = {};
afterEach(async () => {
  if (!(await Promise.all(shared.values())).includes(testServer)) await testServer.app.close();
});
afterAll(async () => {
  for (const server of shared.values()) await (await server).app.close();
});

function sharedServer(environment: Readonly<Record<string, string>> = NOTHING_SET): Promise<TestServer> {
  const server = shared.get(environment) ?? startServer(environment);
  shared.set(environment, server);
  return server;
}

const codeOf = (answer: { body: string }) => (JSON.parse(answer.body) as { error: { code: string } }).error.code;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** What the server at `port` answers to these bytes, until it closes. */
async function answerTo(bytes: string, port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.end(bytes);
  return (await socket.toArray()).join('');
}

async function signIn(key: string, headers: Record<string, string> = {}) {
  return testServer.app.inject({ method: 'POST', url: '/v1/session', headers, payload: { key } });
}

describe('with API_KEYS', () => {
  it.each(GUARDED)('%s asks for a key', async (url) => {
    testServer = await sharedServer(KEYS);
    const answer = await testServer.app.inject(url);
    expect([answer.statusCode, codeOf(answer), answer.headers['www-authenticate']]).toEqual([
      401,
      'api_key_missing',
      'Bearer',
    ]);
  });

  it.each([FIRST, SECOND])('lets %s in', async (key) => {
    testServer = await sharedServer(KEYS);
    expect((await testServer.app.inject({ url: '/v1/calls', headers: bearer(key) })).statusCode).toBe(200);
  });

  it.each(['first-key', `${FIRST}2`, `${FIRST},${SECOND}`, FIRST.toUpperCase()])(
    'does not let %s in, nor repeats it',
    async (key) => {
      testServer = await startServer(KEYS);
      const answer = await testServer.app.inject({ url: '/v1/calls', headers: bearer(key) });
      expect([answer.statusCode, codeOf(answer)]).toEqual([401, 'invalid_api_key']);
      expect(answer.body + testServer.logLines.join('')).not.toContain(key);
    },
  );

  it('asks for the key before it looks at the request', async () => {
    testServer = await startServer(KEYS);
    expect(codeOf(await testServer.app.inject('/v1/calls?limit=nonsense'))).toBe('api_key_missing');
  });

  it('shows the page and the health endpoint to anyone, without details', async () => {
    testServer = await startServer(KEYS);
    expect((await testServer.app.inject('/health')).json()).toEqual({ status: 'ok' });
    expect((await testServer.app.inject('/ready')).json()).toEqual({ status: 'ready' });
    expect((await testServer.app.inject('/')).statusCode).toBe(200);
  });

  it('refuses an upgrade without a key before it happens', async () => {
    testServer = await startServer(KEYS);
    const url = await listen(testServer.app);
    expect(await upgradeStatus(`${url}/v1/captions`)).toBe(401);
    expect(await upgradeStatus(`${url}/v1/captions`, bearer(FIRST))).toBe(101);
  });

  it('asks a request from this machine for its key as well, also with ALLOW_ANONYMOUS', async () => {
    testServer = await startServer({ ...KEYS, ALLOW_ANONYMOUS: 'true' });
    expect((await testServer.app.inject('/v1/calls')).statusCode).toBe(401);
  });
});

describe('a browser session', () => {
  it('opens with a key what the key opens, until it is ended', async () => {
    testServer = await startServer(KEYS);
    const cookie = String((await signIn(FIRST)).headers['set-cookie']);
    expect(cookie).toMatch(/^trunkline_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    const headers = { cookie: `other=1; ${cookie.split(';')[0]}` };
    expect((await testServer.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(200);
    const out = await testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers });
    expect([out.statusCode, out.headers['set-cookie']]).toEqual([
      204,
      expect.stringContaining('trunkline_session=; Path=/; Max-Age=0'),
    ]);
    expect((await testServer.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(401);
  });

  it('ends by itself after twelve hours', async () => {
    testServer = await startServer(KEYS);
    const headers = { cookie: String((await signIn(FIRST)).headers['set-cookie']).split(';')[0] };
    testServer.clock.advance(12 * 3_600_000 - 1);
    expect((await testServer.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(200);
    testServer.clock.advance(1);
    expect((await testServer.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(401);
  });

  it.each(['', 'trunkline_session=', `trunkline_session=${'A'.repeat(43)}`])(
    'is not opened by the cookie "%s"',
    async (cookie) => {
      testServer = await startServer(KEYS);
      await signIn(FIRST);
      expect((await testServer.app.inject({ url: '/v1/calls', headers: { cookie } })).statusCode).toBe(401);
    },
  );

  it('gets a cookie for https alone when the browser came by https', async () => {
    testServer = await startServer(PUBLIC);
    expect((await signIn(FIRST, { host: 'bridge.example.com' })).headers['set-cookie']).toMatch(/; Secure$/);
    expect((await signIn(FIRST, { 'x-forwarded-proto': 'https' })).headers['set-cookie']).toMatch(/; Secure$/);
    expect((await signIn(FIRST)).headers['set-cookie']).not.toMatch(/Secure/);
  });

  it('is not told by strangers that they came by https', async () => {
    testServer = await startServer({ ...PUBLIC, TRUSTED_PROXIES: '10.0.0.1' });
    const cookieFor = async (remoteAddress: string) => {
      const headers = { 'x-forwarded-proto': 'https' };
      const answer = await testServer.app.inject({
        method: 'POST',
        url: '/v1/session',
        remoteAddress,
        headers,
        payload: { key: FIRST },
      });
      return String(answer.headers['set-cookie']);
    };
    expect(await cookieFor('10.0.0.1')).toMatch(/; Secure$/);
    expect(await cookieFor('127.0.0.1')).not.toMatch(/Secure/);
  });

  it('is refused for a wrong key and a wrong body, neither of which is repeated', async () => {
    testServer = await startServer(KEYS);
    const wrong = await signIn('guess-1');
    expect([wrong.statusCode, codeOf(wrong), wrong.headers['set-cookie']]).toEqual([401, 'invalid_api_key', undefined]);
    const misspelt = await testServer.app.inject({ method: 'POST', url: '/v1/session', payload: { kee: FIRST } });
    expect([misspelt.statusCode, codeOf(misspelt)]).toEqual([400, 'invalid_request']);
    expect(misspelt.body).not.toContain(FIRST);
  });

  it('needs no cookie where there are no keys', async () => {
    testServer = await startServer();
    const answer = await signIn('anything');
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([204, undefined]);
  });
});

/** One of each family that proxies, tunnels and content delivery networks add. */
const PROXY_HEADERS = [
  ['via', '1.1 proxy'],
  ['forwarded', 'for=192.0.2.1'],
  ['x-forwarded-for', ''],
  ['x-forwarded-server', 'edge'],
  ['x-forwarded-client-cert', 'Hash=1'],
  ['x-real-ip', '192.0.2.1'],
  ['x-client-ip', '192.0.2.1'],
  ['true-client-ip', '192.0.2.1'],
  ['cf-connecting-ip', '192.0.2.1'],
  ['cf-ray', '1-AMS'],
  ['cdn-loop', 'cloudflare'],
  ['fastly-client-ip', '192.0.2.1'],
  ['fly-client-ip', '192.0.2.1'],
  ['x-original-host', 'bridge.example.com'],
  ['x-envoy-external-address', '192.0.2.1'],
  ['x-amzn-trace-id', 'Root=1'],
  ['x-azure-clientip', '192.0.2.1'],
  ['x-arr-log-id', '1'],
  ['ngrok-skip-browser-warning', '1'],
  ['tailscale-user-login', 'somebody@example.com'],
  ['x-varnish', '1'],
  ['proxy-connection', 'keep-alive'],
  ['connection', 'upgrade'],
] as const;

function viaProxy([name, value]: readonly [string, string]): [string, Record<string, string>, string] {
  return [`what came with ${name}`, { host: 'localhost:8080', [name]: value }, '127.0.0.1'];
}

describe('without API_KEYS', () => {
  it.each(['localhost:8080', '127.0.0.1', '127.9.9.9:1', '[::1]:8080', 'LOCALHOST'])(
    'answers this machine as %s',
    async (host) => {
      testServer = await sharedServer();
      expect((await testServer.app.inject({ url: '/v1/calls', headers: { host } })).statusCode).toBe(200);
    },
  );

  it.each<[string, Record<string, string>, string]>([
    ['a name that merely leads here (DNS rebinding)', { host: 'evil.example' }, '127.0.0.1'],
    ['a name that begins like ours', { host: 'localhost.evil.example' }, '127.0.0.1'],
    ['a tunnel that keeps the public name', { host: 'abc.tunnel.example' }, '127.0.0.1'],
    ['a tunnel that rewrites the name', { host: 'localhost:8080', 'x-forwarded-for': '192.0.2.1' }, '127.0.0.1'],
    ['another machine', { host: 'localhost:8080' }, '192.0.2.1'],
    ...PROXY_HEADERS.map(viaProxy),
  ])('refuses %s', async (_what, headers, remoteAddress) => {
    testServer = await sharedServer();
    const answer = await testServer.app.inject({ url: '/v1/calls', headers, remoteAddress });
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'anonymous_refused']);
    expect((await testServer.app.inject({ url: '/ready', headers, remoteAddress })).json()).toEqual({
      status: 'ready',
    });
  });

  it("refuses what nginx's default proxy_pass forwards: HTTP/1.0, to a Host that is its upstream", async () => {
    testServer = await startServer();
    const { port } = new URL(await listen(testServer.app));
    const status = (version: string) =>
      answerTo(`GET /v1/calls HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`, Number(port));
    expect(await status('1.0')).toMatch(/^HTTP\/1\.1 403 .*anonymous_refused/s);
    expect(await status('1.1')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('refuses a whole URL in the first line, which overrules the Host', async () => {
    testServer = await startServer();
    const port = Number(new URL(await listen(testServer.app)).port);
    for (const name of ['bridge.example.com', `127.0.0.1:${port}`]) {
      const request = `GET http://${name}/v1/calls HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
      expect(await answerTo(request, port)).toMatch(/^HTTP\/1\.1 403 .*anonymous_refused/s);
    }
  });

  it.each([
    '/v1/captions',
    '/twilio/media',
    '/asterisk/media',
    '/telnyx/media',
    '/plivo/media',
    '/v1/audio/speech/ws',
    '/ws/transcribe',
  ])('opens no WebSocket at %s to what was forwarded', async (path) => {
    testServer = await startServer();
    const url = await listen(testServer.app);
    expect(await upgradeStatus(url + path, { 'cf-connecting-ip': '192.0.2.1' })).toBe(403);
    expect(await upgradeStatus(url + path)).toBe(101);
  });

  it('lets everybody in with ALLOW_ANONYMOUS', async () => {
    testServer = await startServer({ ALLOW_ANONYMOUS: 'true' });
    expect(
      (
        await testServer.app.inject({
          url: '/v1/calls',
          headers: { host: 'bridge.example.com' },
          remoteAddress: '192.0.2.1',
        })
      ).statusCode,
    ).toBe(200);
  });
});

describe("another site's page", () => {
  it.each(['https://evil.example', 'null', 'http://localhost:9999', 'nonsense'])(
    'with Origin %s may not act',
    async (origin) => {
      testServer = await sharedServer();
      const answer = await testServer.app.inject({
        method: 'POST',
        url: '/v1/calls/CA1/hangup',
        headers: { host: 'localhost:8080', origin },
      });
      expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'origin_refused']);
    },
  );

  it('may not open a WebSocket, our own and programs may', async () => {
    testServer = await startServer();
    const url = await listen(testServer.app);
    const captions = `${url}/v1/captions`;
    expect(await upgradeStatus(captions, { origin: 'https://evil.example' })).toBe(403);
    expect(await upgradeStatus(captions, { origin: url })).toBe(101);
    expect(await upgradeStatus(captions)).toBe(101);
  });

  it('gets no permission to read', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject({ url: '/v1/calls', headers: { origin: 'https://evil.example' } });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('is told apart from our own page under PUBLIC_URL', async () => {
    testServer = await startServer(PUBLIC);
    const out = (origin: string) =>
      testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers: { host: 'inner:8080', origin } });
    expect((await out('https://bridge.example.com')).statusCode).toBe(204);
    expect((await out('http://bridge.example.com')).statusCode).toBe(403);
  });
});
