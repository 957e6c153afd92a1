import { afterEach, describe, expect, it } from 'vitest';
import { listen, startServer, type TestServer, upgradeStatus } from '../test-server.ts';

const KEY = 'the-only-key-there-is';
const KEYS = { API_KEYS: KEY };
/** Behind a proxy at 10.0.0.1. */
const PROXIED = { ...KEYS, PUBLIC_URL: 'https://bridge.example.com', TRUSTED_PROXIES: '10.0.0.1,2001:db8:ffff::/48' };

let testServer: TestServer;
afterEach(() => testServer.app.close());

const codeOf = (answer: { body: string }) => (JSON.parse(answer.body) as { error: { code: string } }).error.code;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

function offer(key: string, remoteAddress: string, forwardedFor?: string) {
  const forwarded = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return testServer.app.inject({ url: '/v1/calls', remoteAddress, headers: { ...bearer(key), ...forwarded } });
}

const statusOf = async (...asked: Parameters<typeof offer>) => (await offer(...asked)).statusCode;

/** Ten wrong keys, forwarded for what `forwardedFor` says of each. */
async function guess(
  remoteAddress: string,
  forwardedFor: (i: number) => string | undefined = () => undefined,
): Promise<void> {
  for (let i = 0; i < 10; i++) await offer(`guess-${i}`, remoteAddress, forwardedFor(i));
}

describe('guessing keys', () => {
  it('is stopped after ten wrong ones, right ones included, for that address alone', async () => {
    testServer = await startServer(KEYS);
    for (let i = 0; i < 10; i++) expect(await statusOf(`guess-${i}`, '192.0.2.1')).toBe(401);
    const stopped = await offer(KEY, '192.0.2.1');
    expect([stopped.statusCode, codeOf(stopped), stopped.headers['retry-after']]).toEqual([
      429,
      'too_many_attempts',
      '60',
    ]);
    expect(await statusOf(KEY, '192.0.2.2')).toBe(200);
    testServer.clock.advance(6000);
    expect(await statusOf(KEY, '192.0.2.1')).toBe(200);
  });

  it('is counted at every endpoint that looks at a key, a token or a password', async () => {
    testServer = await startServer({
      ...KEYS,
      CARRIER_TOKEN: 'a-token-of-carriers',
      ASTERISK_PASSWORD: 'a-password-of-asterisk',
    });
    const from = { remoteAddress: '192.0.2.1' } as const;
    const signIn = (key: string) =>
      testServer.app.inject({ ...from, method: 'POST', url: '/v1/session', payload: { key } });
    const announce = (password: string) => {
      const authorization = `Basic ${Buffer.from(`asterisk:${password}`).toString('base64')}`;
      const url = '/asterisk/calls/3b241101-e2bb-4255-8caf-4136c566a962';
      return testServer.app.inject({ ...from, method: 'POST', url, headers: { authorization }, payload: {} });
    };
    for (let i = 0; i < 4; i++) await testServer.app.inject({ ...from, url: '/ready', headers: bearer('guess') });
    for (let i = 0; i < 3; i++) await signIn('guess');
    for (let i = 0; i < 3; i++) expect((await announce('guess')).statusCode).toBe(401);
    expect((await signIn(KEY)).statusCode).toBe(429);
    expect((await announce('a-password-of-asterisk')).statusCode).toBe(429);
    expect((await testServer.app.inject({ ...from, url: '/ready', headers: bearer(KEY) })).json()).toEqual({
      status: 'ready',
    });
  });

  it("stops a carrier's tokens too, and not those of calls that came rightly from the same address", async () => {
    testServer = await startServer({ CARRIER_TOKEN: 'a-token-of-carriers' });
    const url = await listen(testServer.app);
    const dial = (token: string) => upgradeStatus(`${url}/telnyx/media?token=${token}`);
    expect(await dial('a-token-of-carriers')).toBe(101);
    for (let i = 0; i < 10; i++) expect(await dial('guess')).toBe(401);
    expect(await dial('guess')).toBe(429);
    expect(await dial('a-token-of-carriers')).toBe(101);
  });

  it('is not helped by changing the address within one IPv6 network', async () => {
    testServer = await startServer(KEYS);
    for (let i = 0; i < 10; i++) await offer('guess', `2001:db8::${i}`);
    expect(await statusOf(KEY, '2001:db8:0:0:ffff::1')).toBe(429);
    expect(await statusOf(KEY, '2001:db8:0:1::1')).toBe(200);
  });

  it('counts a browser that is signed in as nobody: its session cannot be guessed', async () => {
    testServer = await startServer(KEYS);
    const signedIn = await testServer.app.inject({
      method: 'POST',
      url: '/v1/session',
      remoteAddress: '192.0.2.7',
      payload: { key: KEY },
    });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    await guess('192.0.2.8');
    expect(
      (await testServer.app.inject({ url: '/v1/calls', remoteAddress: '192.0.2.8', headers: { cookie } })).statusCode,
    ).toBe(200);
  });
});

describe('behind a proxy, guessing', () => {
  it('locks out whom the proxy names, and nobody else behind it', async () => {
    testServer = await startServer(PROXIED);
    await guess('10.0.0.1', () => '192.0.2.9');
    expect(await statusOf(KEY, '10.0.0.1', '192.0.2.9')).toBe(429);
    expect(await statusOf(KEY, '10.0.0.1', '192.0.2.10')).toBe(200);
  });

  it.each([
    ['addresses of its own invention before it', (i: number) => `198.51.100.${i}, 192.0.2.9`],
    ['trusted ones and then inventions', (i: number) => `198.51.100.${i}, 10.0.0.1, 192.0.2.9`],
    ['ports', (i: number) => `192.0.2.9:${40_000 + i}`],
    ['a second trusted proxy behind', () => '192.0.2.9, 10.0.0.1, 2001:db8:ffff::1'],
    ['IPv4 written as IPv6', () => '::ffff:192.0.2.9'],
    ['brackets and ports', (i: number) => `[::ffff:c000:209]:${40_000 + i}`],
  ])('is not helped by %s', async (_what, forwardedFor) => {
    testServer = await startServer(PROXIED);
    await guess('10.0.0.1', forwardedFor);
    expect(await statusOf(KEY, '10.0.0.1', '192.0.2.9')).toBe(429);
    expect(await statusOf(KEY, '10.0.0.1', '198.51.100.1')).toBe(200);
  });

  it('counts an IPv6 client by its network, whatever spelling comes', async () => {
    testServer = await startServer(PROXIED);
    await guess('10.0.0.1', (i) => (i % 2 === 0 ? `[2001:DB8:0:7::${i}]:443` : `2001:0db8:0000:0007:0::${i}`));
    expect(await statusOf(KEY, '10.0.0.1', '2001:db8:0:7:1::1')).toBe(429);
    expect(await statusOf(KEY, '10.0.0.1', '2001:db8:0:8::1')).toBe(200);
  });

  it('counts for the proxy what it does not say or says unreadably, and there a right key gets in all the same', async () => {
    testServer = await startServer(PROXIED);
    await guess('10.0.0.1', (i) => ['unknown', '192.0.2.1, nonsense', '', '_hidden', '1.2.3.4.5'][i % 5]);
    expect(await statusOf('guess', '10.0.0.1')).toBe(429);
    expect(await statusOf(KEY, '10.0.0.1')).toBe(200);
  });

  it.each([
    ['a public address', '203.0.113.5'],
    ['this machine, where the proxy is another', '127.0.0.1'],
    ['a private network that is not trusted', '192.168.1.5'],
    ['a neighbour of the proxy', '10.0.0.2'],
  ])('cannot be hidden behind an X-Forwarded-For that was made up at %s', async (_where, remoteAddress) => {
    testServer = await startServer(PROXIED);
    await guess(remoteAddress, (i) => `192.0.2.${i}`);
    expect(await statusOf('guess', remoteAddress, '192.0.2.98')).toBe(429);
    expect(await statusOf(KEY, remoteAddress, '192.0.2.99')).toBe(429);
    expect(await statusOf(KEY, '10.0.0.1', '192.0.2.99')).toBe(200);
  });

  it('is told to the operator once when a proxy seems to be missing in TRUSTED_PROXIES, and strangers are not', async () => {
    testServer = await startServer(KEYS);
    const warnings = () => testServer.logLines.filter((line) => line.includes('TRUSTED_PROXIES'));
    await offer(KEY, '127.0.0.1', '192.0.2.1');
    await offer(KEY, '8.8.8.8', '192.0.2.1');
    await offer(KEY, '172.18.0.2');
    expect(warnings()).toEqual([]);
    for (let i = 0; i < 3; i++) await offer(KEY, '172.18.0.2', '192.0.2.1');
    expect(warnings().map((line) => JSON.parse(line))).toMatchObject([{ level: 40, proxy: '172.18.0.2' }]);
  });
});
