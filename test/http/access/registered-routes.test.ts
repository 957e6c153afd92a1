/** Every route that is registered, described or not, is asked for by everybody who may not come in. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ROLES } from '../../../src/foundation/roles.ts';
import { SESSION_LIFE_MS } from '../../../src/http/access/sessions.ts';
import type { FakePeople } from '../../fakes/people.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../test-server.ts';
import { team } from './team.ts';

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Ask for no key: the page's files, whether the server lives, signing in and out, carriers with a secret each. */
const OPEN = [
  /^\w+ \/(?:[\w-]+\/)*[\w-]+\.(?:js|css|svg|html)$/,
  /^\w+ \/(?:health|ready)?$/,
  /^\w+ \/schemas\/[\w-]+\.json$/,
  /^(?:POST|DELETE) \/v1\/session$/,
  /^\w+ \/(?:asterisk|exotel|freeswitch|genesys|plivo|signalwire|telnyx|twilio|vonage)\//,
];

let testServer: TestServer;
let people: FakePeople;
beforeEach(async () => {
  people = team();
  testServer = await startServer({ API_KEYS: 'a-key-of-the-operator' }, undefined, people);
});
afterEach(() => testServer.app.close());

/** As fastify's router has them. */
function routes(): Route[] {
  const parents: string[] = [];
  const found: Route[] = [];
  for (const line of testServer.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^(.*?)[├└]── (.*?) \((.*)\)$/.exec(line) ?? [];
    if (methods === '') continue;
    const depth = indent.length / 4;
    const path = `${depth === 0 ? '' : (parents[depth - 1] ?? '')}${part}`;
    parents[depth] = path;
    // It leaves out where the files of the API's viewer lie.
    if (part === '*') found.push({ method: 'GET', path: '/docs/static/swagger-ui.css' });
    else for (const method of methods.split(', ')) found.push({ method, path: path.replace(/^\/*/, '/') });
  }
  return found;
}

const guarded = (): Route[] =>
  routes().filter(({ method, path }) => !OPEN.some((open) => open.test(`${method} ${path}`)));

async function statusOf({ method, path }: Route, headers: Record<string, string>): Promise<number> {
  const url = path.replace(/:\w+/g, 'x');
  const payload = ['GET', 'HEAD', 'DELETE'].includes(method) ? {} : { payload: {} };
  return (await testServer.app.inject({ method: method as 'GET', url, headers, ...payload })).statusCode;
}

async function cookieOf(name: string): Promise<{ cookie: string }> {
  const payload = { name, password: `${name}s-password` };
  const answer = await testServer.app.inject({ method: 'POST', url: '/v1/session', payload });
  return { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' };
}

/** Guarded routes that answer `headers` with anything but 401. */
async function lettingIn(headers: Record<string, string>): Promise<string[]> {
  const open: string[] = [];
  for (const route of guarded()) {
    const status = await statusOf(route, headers);
    if (status !== 401) open.push(`${status} ${route.method} ${route.path}`);
  }
  return open;
}

it('finds the routes', () => {
  expect(guarded().length).toBeGreaterThan(80);
  const names = routes().map(({ method, path }) => `${method} ${path}`);
  expect(names).toEqual(expect.arrayContaining(['HEAD /v1/calls/:id/sound', 'GET /v1/captions', 'GET /docs/json']));
});

it.each<[string, () => Promise<Record<string, string>>]>([
  ['nobody', async () => ({})],
  ['nobody on a made-up session', async () => ({ cookie: 'trunkline_session=AAAA' })],
  [
    'whoever has signed out',
    async () => {
      const headers = await cookieOf('ann');
      await testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers });
      return headers;
    },
  ],
  [
    'whoever was signed out from another browser',
    async () => {
      const headers = await cookieOf('ann');
      const other = await cookieOf('ann');
      await testServer.app.inject({ method: 'DELETE', url: '/v1/session?everywhere=true', headers: other });
      return headers;
    },
  ],
  [
    'whose session has expired',
    async () => {
      const headers = await cookieOf('ann');
      testServer.clock.advance(SESSION_LIFE_MS);
      return headers;
    },
  ],
  [
    'who was removed',
    async () => {
      const headers = await cookieOf('ann');
      await people.users.remove('ann');
      return headers;
    },
  ],
  [
    'whose password is another one now',
    async () => {
      const headers = await cookieOf('ann');
      await people.users.change('ann', { secret: 'hash of another' });
      return headers;
    },
  ],
  [
    'whose role is another one now',
    async () => {
      const headers = await cookieOf('sue');
      await people.users.change('sue', { role: 'admin' });
      return headers;
    },
  ],
])('no route but the open ones answers %s', async (_who, headersOf) => {
  expect(await lettingIn(await headersOf())).toEqual([]);
});

it('no WebSocket opens without a key', async () => {
  const url = await listen(testServer.app);
  for (const { method, path } of guarded()) {
    if (method !== 'GET') continue;
    const status = await upgradeStatus(`${url}${path.replace(/:\w+/g, 'x')}`);
    expect([path, [401, 404]]).toEqual([path, expect.arrayContaining([status])]);
  }
});

it('the routes of administration, settings and audit are for admins alone', async () => {
  const admins = guarded().filter(({ path }) => /^\/v1\/(?:admin\/|audit|system\/settings)/.test(path));
  expect(admins.length).toBeGreaterThan(7);
  for (const route of admins)
    for (const role of ROLES) {
      if (role === 'admin') continue;
      people.with(`a-${role}`, role, { kind: 'key' });
      const status = await statusOf(route, { authorization: `Bearer a-${role}s-key` });
      expect([route, role, status]).toEqual([route, role, 403]);
    }
});
