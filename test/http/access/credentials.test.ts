import websocket from '@fastify/websocket';
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { Access } from '../../../src/http/access/access.ts';
import type { SharedAccess } from '../../../src/http/access/cluster-access.ts';
import { chooseProtocol } from '../../../src/http/access/credentials.ts';
import { guardRoutes } from '../../../src/http/access/guard.ts';
import { ClientFamilies } from '../../../src/http/server/client-families.ts';
import { Failures } from '../../../src/http/server/errors.ts';
import { closeSocketsOn, logRequests } from '../../../src/http/server/request-hooks.ts';
import { answerUpgradeWith, sendUpgradeHeaders } from '../../../src/http/server/upgrade-headers.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakePeople } from '../../fakes/people.ts';
import { listen } from '../test-server.ts';

const KEY = 'a-key-of-sixteen-characters';

interface KeyedServer {
  readonly app: FastifyInstance;
  readonly access: Access;
  readonly clock: FakeClock;
  readonly lines: string[];
}

const servers: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of servers.splice(0)) await app.close();
});

/** Routes as those of listening sessions are, with a key. */
async function open({ keys = KEY, clusterKey = '' } = {}): Promise<KeyedServer> {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void lines.push(line) });
  const failures = new Failures({ families: new ClientFamilies([]), clock, log, metrics: new Metrics() });
  const shared = clusterKey === '' ? null : ({ ...aloneInCluster, key: clusterKey, proof: '' } satisfies SharedAccess);
  const settings = readSettings({ API_KEYS: keys });
  const access = new Access({ settings, people: new FakePeople(), audit: null, clock, log, shared });
  const app = fastify();
  app.setErrorHandler((error, request, reply) => failures.answer(error, request, reply));
  await app.register(websocket, { options: { handleProtocols: chooseProtocol }, preClose: closeSocketsOn(clock) });
  sendUpgradeHeaders(app);
  logRequests(app, log);
  app.addHook('onRequest', async (request) => access.refuseForeign(request));
  await app.register(async (guarded) => {
    guardRoutes(guarded, { access, visibility: { refuseUnseen: async () => undefined }, forwarding: null });
    const socket = { permission: 'transcriptions', socket: true } as const;
    const wsHandler = (opened: WebSocket): void => void opened.send('open');
    const handler = async (): Promise<string> => 'plain';
    const refusal = () => ({ status: 418, headers: { 'x-error': 'in its own words' }, body: { err: 'no' } });
    guarded.route({ method: 'GET', url: '/plain', config: socket, handler, wsHandler });
    guarded.route({
      method: 'GET',
      url: '/open',
      config: { ...socket, keyInUrl: true, fromAnySite: true },
      preHandler: async (request) => answerUpgradeWith(request, { 'x-extra': 'said' }),
      handler,
      wsHandler,
    });
    guarded.route({ method: 'GET', url: '/own', config: { ...socket, refusal }, handler, wsHandler });
    guarded.get('/admin', { config: { permission: 'settings' } }, handler);
    guarded.post('/keys', { config: { permission: 'keys.make' } }, async (request) => ({
      key: access.makeShortKey(request, 30_000, { said: 'when made' }),
    }));
    guarded.get('/content', { config: { permission: 'speech' } }, async (request) => ({
      content: access.shortKeyContent(request),
    }));
  });
  servers.push(app);
  return { app, access, clock, lines };
}

const aloneInCluster = {
  sessions: { find: async () => null, living: async () => new Set<string>() },
  attempts: { add: async () => new Map<string, number>(), forgive: async () => undefined },
};

interface Handshake {
  readonly status: number;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

async function handshake(
  url: string,
  protocols: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<Handshake> {
  const socket = new WebSocket(url, [...protocols], { headers });
  return new Promise((resolve) => {
    let answered: Handshake['headers'] = {};
    socket.on('upgrade', (response) => {
      answered = response.headers;
    });
    socket.on('error', () => resolve({ status: 0, protocol: '', headers: answered }));
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      resolve({ status: response.statusCode ?? 0, protocol: '', headers: response.headers });
    });
    socket.on('open', () => {
      resolve({ status: 101, protocol: socket.protocol, headers: answered });
      socket.terminate();
    });
  });
}

describe('a key', () => {
  it.each([
    { authorization: `Bearer ${KEY}` },
    { authorization: `Token ${KEY}` },
    { authorization: `token  ${KEY}` },
    { 'x-api-key': KEY },
    { 'xi-api-key': KEY },
    { 'x-vapi-secret': KEY },
  ])('is found in %o', async (headers) => {
    const { app } = await open();
    expect((await app.inject({ url: '/plain', headers })).statusCode).toBe(200);
    const wrong = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}x`]));
    expect((await app.inject({ url: '/plain', headers: wrong })).statusCode).toBe(401);
  });

  it.each([
    { offered: ['token', KEY], answered: 'token' },
    { offered: ['bearer', KEY], answered: 'bearer' },
    { offered: ['realtime', `openai-insecure-api-key.${KEY}`], answered: 'realtime' },
    { offered: ['realtime', `openai-insecure-api-key.${KEY}`, 'openai-beta.realtime-v1'], answered: 'realtime' },
    { offered: [`openai-insecure-api-key.${KEY}`, 'realtime'], answered: 'realtime' },
  ])('is found in the subprotocols $offered, and $answered is answered', async ({ offered, answered }) => {
    const { app } = await open();
    const url = `${(await listen(app)).replace('http', 'ws')}/plain`;
    expect(await handshake(url, offered)).toMatchObject({ status: 101, protocol: answered });
    const wrong = offered.map((each) => each.replace(KEY, `${KEY}x`));
    expect((await handshake(url, wrong)).status).toBe(401);
  });

  it('is never answered as a subprotocol, even where it is the only one', async () => {
    const { app } = await open();
    const url = `${(await listen(app)).replace('http', 'ws')}/plain`;
    const alone = await handshake(url, [`openai-insecure-api-key.${KEY}`]);
    expect(JSON.stringify(alone)).not.toContain(KEY);
    const other = await handshake(url, ['ws.example.org'], { authorization: `Bearer ${KEY}` });
    expect(other).toMatchObject({ status: 101, protocol: 'ws.example.org' });
  });

  it('is found in the address only where the route says so', async () => {
    const { app } = await open();
    expect((await app.inject({ url: `/open?token=${KEY}` })).statusCode).toBe(200);
    expect((await app.inject({ url: `/open?token=${KEY}x` })).statusCode).toBe(401);
    expect((await app.inject({ url: `/plain?token=${KEY}` })).statusCode).toBe(401);
  });

  it('is not in the log, wherever it was sent, right or wrong', async () => {
    const { app, lines } = await open();
    const url = (await listen(app)).replace('http', 'ws');
    await handshake(`${url}/plain`, ['token', KEY]);
    await handshake(`${url}/plain`, ['token', `wrong-${KEY}`]);
    await handshake(`${url}/open?token=${KEY}`);
    await handshake(`${url}/open?token=wrong-${KEY}`);
    await app.inject({ url: `/nowhere?token=${KEY}`, headers: { 'x-api-key': KEY } });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('\n')).not.toContain(KEY);
  });

  it('cannot be guessed faster in subprotocols than in headers', async () => {
    const { app } = await open();
    const url = `${(await listen(app)).replace('http', 'ws')}/plain`;
    const answers: number[] = [];
    for (let n = 0; n < 11; n++) answers.push((await handshake(url, ['token', `guess-${n}`])).status);
    expect(answers.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(answers[10]).toBe(429);
  });

  it('opens a WebSocket from any site where the route says so, and nothing else does', async () => {
    const { app } = await open();
    const url = (await listen(app)).replace('http', 'ws');
    const headers = { origin: 'https://elsewhere.example' };
    expect((await handshake(`${url}/open`, ['token', KEY], headers)).status).toBe(101);
    expect((await handshake(`${url}/open`, [], headers)).status).toBe(403);
    expect((await handshake(`${url}/plain`, ['token', KEY], headers)).status).toBe(403);
    const unlocked = await open({ keys: '' });
    const free = (await listen(unlocked.app)).replace('http', 'ws');
    expect((await handshake(`${free}/open`, ['token', KEY], headers)).status).toBe(403);
    expect((await handshake(`${free}/open`)).status).toBe(101);
  });
});

describe('a handshake', () => {
  it('is refused in the words of its protocol, with headers', async () => {
    const { app } = await open();
    const url = (await listen(app)).replace('http', 'ws');
    expect(await handshake(`${url}/own`)).toMatchObject({ status: 418, headers: { 'x-error': 'in its own words' } });
    const answer = await app.inject({ url: '/own' });
    expect([answer.statusCode, answer.json()]).toEqual([418, { err: 'no' }]);
  });

  it('is answered with the headers of its route', async () => {
    const { app } = await open();
    const url = (await listen(app)).replace('http', 'ws');
    expect((await handshake(`${url}/open?token=${KEY}`)).headers['x-extra']).toBe('said');
    expect((await handshake(`${url}/plain`, ['token', KEY])).headers['x-extra']).toBeUndefined();
  });
});

const authorized = { authorization: `Bearer ${KEY}` };

async function shortKey({ app }: KeyedServer): Promise<string> {
  return (await app.inject({ method: 'POST', url: '/keys', headers: authorized })).json<{ key: string }>().key;
}

describe('a short-lived key', () => {
  it('holds for audio and speech, as often as it is used, until it expires', async () => {
    const server = await open();
    const { app, clock } = server;
    const key = await shortKey(server);
    expect(key).toMatch(/^ek_[\w-]+$/);
    const url = `${(await listen(app)).replace('http', 'ws')}/plain`;
    expect((await handshake(url, ['bearer', key])).status).toBe(101);
    clock.advance(29_000);
    expect((await handshake(url, ['realtime', `openai-insecure-api-key.${key}`])).status).toBe(101);
    clock.advance(1000);
    const late = await app.inject({ url: '/plain', headers: { authorization: `Bearer ${key}` } });
    expect(late.statusCode).toBe(401);
    expect(late.body).toContain('expired');
    expect(late.body).not.toContain(key);
  });

  it('holds for nothing else, and makes no other keys', async () => {
    const server = await open();
    const headers = { authorization: `Bearer ${await shortKey(server)}` };
    const answers = [
      await server.app.inject({ url: '/admin', headers }),
      await server.app.inject({ method: 'POST', url: '/keys', headers }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 403]);
  });

  it('has what was put into it', async () => {
    const server = await open();
    const { app } = server;
    const key = await shortKey(server);
    const withKey = await app.inject({ url: '/content', headers: { authorization: `Bearer ${key}` } });
    expect(withKey.json()).toEqual({ content: { said: 'when made' } });
    expect((await app.inject({ url: '/content', headers: authorized })).json()).toEqual({ content: null });
  });

  it('holds on each gateway with the same CLUSTER_KEY, and on no other', async () => {
    const clusterKey = 'a-key-of-the-cluster-with-length';
    const key = await shortKey(await open({ clusterKey }));
    const headers = { authorization: `Bearer ${key}` };
    const second = await open({ clusterKey });
    expect((await second.app.inject({ url: '/plain', headers })).statusCode).toBe(200);
    const stranger = await open({ clusterKey: `${clusterKey}-2` });
    expect((await stranger.app.inject({ url: '/plain', headers })).statusCode).toBe(401);
    expect((await (await open()).app.inject({ url: '/plain', headers })).statusCode).toBe(401);
  });

  it('does not hold when one character of it is another, or it is cut', async () => {
    const server = await open();
    const key = await shortKey(server);
    for (const at of [3, 20, key.length - 2]) {
      const other = key.slice(0, at) + (key[at] === 'A' ? 'B' : 'A') + key.slice(at + 1);
      const answer = await server.app.inject({ url: '/plain', headers: { authorization: `Bearer ${other}` } });
      expect(answer.statusCode).toBe(401);
    }
    const cut = await server.app.inject({ url: '/plain', headers: { 'x-api-key': key.slice(0, -1) } });
    expect(cut.statusCode).toBe(401);
  });

  it('ends with the key that it was asked for with', async () => {
    const clusterKey = 'a-key-of-the-cluster-with-length';
    const key = await shortKey(await open({ clusterKey }));
    const changed = await open({ clusterKey, keys: 'another-key-of-sixteen-characters' });
    const answer = await changed.app.inject({ url: '/plain', headers: { authorization: `Bearer ${key}` } });
    expect(answer.statusCode).toBe(401);
  });
});
