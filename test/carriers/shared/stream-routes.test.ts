import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { signPlivo } from '../../../src/carriers/plivo/wire/plivo-signature.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { STREAM_CARRIERS } from '../../helpers/stream-carriers.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';
import { eventsOf } from '../wire-fixtures.ts';

const TOKEN = 'a token of ours';
const LOCKED = { CARRIER_TOKEN: TOKEN };
/** A proxy on this machine would be several clients in one, of whom those with the right token are never shut out. */
const NO_PROXY_HERE = { TRUSTED_PROXIES: '192.0.2.1' };
const ELSEWHERE = { host: 'bridge.example.com' };
const bearer = { authorization: `Bearer ${TOKEN}` };

let testServer: TestServer;
afterEach(() => testServer.app.close());

const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });

async function dial(
  path: string,
  environment: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  testServer = await startServer(environment);
  return upgradeStatus(`${await listen(testServer.app)}${path}`, headers);
}

describe.each(STREAM_CARRIERS)('WS /%s/media', (carrier) => {
  const path = `/${carrier}/media`;

  it('hands the socket over with its own dialect, to a program of this machine and trusts nothing without a token', async () => {
    expect(await dial(path, {})).toBe(101);
    expect(testServer.calls.accepted).toMatchObject([{ dialect: { carrier }, trusted: false }]);
  });

  it('stays closed to another machine while there is no token', async () => {
    expect(await dial(path, {}, ELSEWHERE)).toBe(403);
    expect(testServer.calls.accepted).toEqual([]);
  });
});

describe('every one of these endpoints', () => {
  /** What each endpoint answers to the same handshake. */
  async function dialAll(query: string, environment: Record<string, string>, headers: Record<string, string> = {}) {
    testServer = await startServer(environment);
    const origin = await listen(testServer.app);
    return Promise.all(STREAM_CARRIERS.map((carrier) => upgradeStatus(`${origin}/${carrier}/media${query}`, headers)));
  }

  it.each([
    ['as a bearer token', bearer, ''],
    ['as a password, whatever the user', basic(`anybody:${TOKEN}`), ''],
    ['in its URL', {}, `?token=${encodeURIComponent(TOKEN)}&sample-rate=16000`],
  ])('hands the socket over to whoever brings the token %s, from anywhere', async (_how, headers, query) => {
    expect(await dialAll(query, LOCKED, { ...headers, ...ELSEWHERE })).toEqual(STREAM_CARRIERS.map(() => 101));
    expect(testServer.calls.accepted.map(({ dialect, trusted }) => [dialect.carrier, trusted]).sort()).toEqual(
      STREAM_CARRIERS.map((carrier) => [carrier, true]).sort(),
    );
  });

  it('passes on which flow is to talk to the caller', async () => {
    await dialAll('?flow=shop', {});
    expect(testServer.calls.accepted.map(({ flow }) => flow)).toEqual(STREAM_CARRIERS.map(() => 'shop'));
  });

  it.each([
    ['nothing', {}, ''],
    ['another bearer token', { authorization: 'Bearer guess' }, ''],
    ['the token as a user', basic(`${TOKEN}:x`), ''],
    ['another token in the URL', {}, '?token=guess'],
    ['an empty one', {}, '?token='],
    ['two in the URL', {}, `?token=${encodeURIComponent(TOKEN)}&token=${encodeURIComponent(TOKEN)}`],
  ])('stays closed to %s, even on this machine and for everybody', async (_what, headers, query) => {
    expect(await dialAll(query, { ...LOCKED, ALLOW_ANONYMOUS: 'true' }, headers)).toEqual(
      STREAM_CARRIERS.map(() => 401),
    );
    expect(testServer.calls.accepted).toEqual([]);
  });

  it('refuses when no call can be taken', async () => {
    testServer = await startServer();
    testServer.calls.refusal = new TrunklineError('too_many_calls', 'full');
    const origin = await listen(testServer.app);
    expect(await Promise.all(STREAM_CARRIERS.map((carrier) => upgradeStatus(`${origin}/${carrier}/media`)))).toEqual(
      STREAM_CARRIERS.map(() => 503),
    );
  });

  it('is for WebSockets alone', async () => {
    testServer = await startServer();
    for (const carrier of STREAM_CARRIERS)
      expect((await testServer.app.inject({ url: `/${carrier}/media` })).statusCode, carrier).toBe(400);
  });
});

it('takes the token in the header that Telnyx has for it, and in no other carrier’s endpoint', async () => {
  const headers = { 'x-telnyx-streaming-auth-token': TOKEN };
  expect(await dial('/telnyx/media', LOCKED, headers)).toBe(101);
  const { port } = testServer.app.server.address() as AddressInfo;
  expect(await upgradeStatus(`http://127.0.0.1:${port}/exotel/media`, headers)).toBe(401);
});

it('stops looking at tokens after ten wrong ones, whichever the endpoint', async () => {
  expect(await dial('/vonage/media', { ...LOCKED, ...NO_PROXY_HERE })).toBe(401);
  const { port } = testServer.app.server.address() as AddressInfo;
  for (let n = 0; n < 10; n++) {
    const path = `/${STREAM_CARRIERS[n % STREAM_CARRIERS.length]}/media`;
    expect(await upgradeStatus(`http://127.0.0.1:${port}${path}?token=${n}`)).toBe(401);
  }
  expect(await upgradeStatus(`http://127.0.0.1:${port}/vonage/media`, bearer)).toBe(429);
});

it('gives a Vonage stream a name of its own each time, as nothing else may name its call', async () => {
  await dial('/vonage/media', {});
  const { port } = testServer.app.server.address() as AddressInfo;
  await upgradeStatus(`http://127.0.0.1:${port}/vonage/media`);
  const ids = testServer.calls.accepted.map(({ dialect }) => {
    const [event] = eventsOf(dialect, '{"event":"websocket:connected","content-type":"audio/l16;rate=16000"}');
    return event?.type === 'start' ? event.start.callId : '';
  });
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(ids).size).toBe(2);
});

it('opens an Exotel stream at the rate of its URL, as its start need not tell one', async () => {
  await dial('/exotel/media?sample-rate=16000', {});
  const [{ dialect } = { dialect: null }] = testServer.calls.accepted;
  const start = dialect?.receive('{"event":"start","start":{"streamSid":"s","callSid":"c"}}');
  expect(start).toMatchObject({ type: 'start', start: { codec: { rateHz: 16_000 } } });
});

it.each([
  ['little', [1, 2]],
  ['big', [2, 1]],
])('reads linear samples in the byte order that is set: %s', async (order, bytes) => {
  await dial('/telnyx/media', { L16_BYTE_ORDER: order });
  const [{ dialect } = { dialect: null }] = testServer.calls.accepted;
  const format = { encoding: 'L16', sample_rate: 16_000, channels: 1 };
  dialect?.receive(
    JSON.stringify({ event: 'start', stream_id: 's', start: { call_control_id: 'c', media_format: format } }),
  );
  const media = { track: 'inbound', chunk: '1', timestamp: '0', payload: Buffer.from([1, 2]).toString('base64') };
  expect(dialect?.receive(JSON.stringify({ event: 'media', stream_id: 's', media }))).toMatchObject({
    bytes: Buffer.from(bytes),
  });
});

describe('Plivo’s endpoint with PLIVO_AUTH_TOKEN', () => {
  const SIGNED = {
    ...LOCKED,
    PLIVO_AUTH_TOKEN: 'MAtoken',
    PUBLIC_URL: 'https://bridge.example.com',
    API_KEYS: 'a-key-of-sixteen-characters',
  };
  const url = 'https://bridge.example.com/plivo/media';
  const headersOf = (signature: string, name = 'x-plivo-signature-v3') => ({
    [name]: signature,
    'x-plivo-signature-v3-nonce': '12345',
  });

  it.each(['x-plivo-signature-v3', 'x-plivo-signature-ma-v3'])(
    'opens to what is signed in %s, and vouches for it',
    async (name) => {
      expect(
        await dial('/plivo/media', SIGNED, { ...headersOf(signPlivo('MAtoken', url, '12345'), name), ...ELSEWHERE }),
      ).toBe(101);
      expect(testServer.calls.accepted).toMatchObject([{ trusted: true }]);
    },
  );

  it.each([
    ['nothing', {}],
    ['the token of the others', bearer],
    ['another account’s signature', headersOf(signPlivo('other', url, '12345'))],
    ['the signature of another endpoint', headersOf(signPlivo('MAtoken', `${url}/x`, '12345'))],
    ['a signature without its nonce', { 'x-plivo-signature-v3': signPlivo('MAtoken', url, '12345') }],
  ])('stays closed to %s', async (_what, headers) => {
    expect(await dial('/plivo/media', SIGNED, headers)).toBe(403);
    expect(testServer.calls.accepted).toEqual([]);
  });
});
