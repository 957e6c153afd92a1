import { afterEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/foundation/roles.ts';
import { FakePeople } from '../../fakes/people.ts';
import { listen, startServer, type TestServer } from '../test-server.ts';
import { bearer, codeOf, team } from './team.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

async function open(people = team(), environment: Record<string, string> = {}): Promise<FakePeople> {
  testServer = await startServer(environment, undefined, people);
  return people;
}

const post = (payload: object, remoteAddress = '127.0.0.1') =>
  testServer.app.inject({ method: 'POST', url: '/v1/session', payload, remoteAddress });

async function browserOf(name: string): Promise<{ cookie: string }> {
  const answer = await post({ name, password: `${name}s-password` });
  return { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' };
}

const statusOf = async (headers: Record<string, string>, url = '/v1/calls') =>
  (await testServer.app.inject({ url, headers })).statusCode;

describe('the administration', () => {
  const as = (name: string) => browserOf(name);

  it('belongs to admins', async () => {
    await open();
    for (const name of ['sue', 'bob'] as const) {
      const answer = await testServer.app.inject({ url: '/v1/admin/users', headers: await as(name) });
      expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'role_refused']);
      expect(answer.body).toContain('it needs admin');
    }
    expect(await statusOf(bearer('crms-key'), '/v1/admin/users')).toBe(403);
    expect(await statusOf(await as('ann'), '/v1/admin/users')).toBe(200);
  });

  it('never shows a secret', async () => {
    await open();
    const { body } = await testServer.app.inject({ url: '/v1/admin/users', headers: await as('ann') });
    expect(body).not.toMatch(/hash of|sha256|secret/);
  });

  it('makes a key that works, and ends with its user', async () => {
    await open();
    const headers = await as('ann');
    const payload = { name: 'Prometheus', role: 'app', key: true };
    const added = await testServer.app.inject({ method: 'POST', url: '/v1/admin/users', headers, payload });
    const { name, key } = added.json<{ name: string; key: string }>();
    expect([added.statusCode, name]).toEqual([201, 'prometheus']);
    expect(key).toMatch(/^tl_[\w-]{43}$/);
    expect(await statusOf(bearer(key), '/metrics')).toBe(200);
    await testServer.app.inject({ method: 'DELETE', url: '/v1/admin/users/prometheus', headers });
    expect(await statusOf(bearer(key), '/metrics')).toBe(401);
  });

  it.each<[string, object, number, string]>([
    ['a second user of a name', { name: 'BOB', role: 'app', key: true }, 409, 'user_exists'],
    ['a short password', { name: 'new', role: 'app', password: '123456789' }, 400, 'invalid_request'],
    ['neither password nor key', { name: 'new', role: 'app' }, 400, 'invalid_request'],
    ['both', { name: 'new', role: 'app', password: '1234567890', key: true }, 400, 'invalid_request'],
    ['an agent of another role', { name: 'new', role: 'app', agent: 'x', key: true }, 400, 'invalid_request'],
    ['a name of a key of API_KEYS', { name: 'key-abc', role: 'app', key: true }, 400, 'invalid_request'],
    ['the name of this machine', { name: 'Local', role: 'app', key: true }, 400, 'invalid_request'],
    ['a secret of its own', { name: 'new', role: 'app', secret: '$sha256$' }, 400, 'invalid_request'],
  ])('refuses %s', async (_what, payload, status, code) => {
    await open();
    const headers = await as('ann');
    const answer = await testServer.app.inject({ method: 'POST', url: '/v1/admin/users', headers, payload });
    expect([answer.statusCode, codeOf(answer)]).toEqual([status, code]);
  });

  it('keeps an admin, however many changes come at once', async () => {
    const people = await open(team().with('adam', 'admin'));
    const [ann, adam] = [await as('ann'), await as('adam')];
    const remove = (name: string, headers: Record<string, string>) =>
      testServer.app.inject({ method: 'DELETE', url: `/v1/admin/users/${name}`, headers });
    await Promise.all([remove('ann', adam), remove('adam', ann)]);
    expect(people.users.list.all.filter(({ role }) => role === 'admin')).toHaveLength(1);
    const left = people.users.list.find('ann') === undefined ? ['adam', adam] : ['ann', ann];
    const headers = left[1] as Record<string, string>;
    const demoted = await testServer.app.inject({
      method: 'PATCH',
      url: `/v1/admin/users/${left[0]}`,
      headers,
      payload: { role: 'agent' },
    });
    expect([demoted.statusCode, codeOf(demoted)]).toEqual([409, 'last_admin']);
  });

  it('asks the keyless operator for an admin first, who can then sign in', async () => {
    await open(new FakePeople());
    const add = (role: Role) =>
      testServer.app.inject({
        method: 'POST',
        url: '/v1/admin/users',
        payload: { name: 'ann', role, password: 'anns-password' },
      });
    const refused = await add('supervisor');
    expect([refused.statusCode, codeOf(refused)]).toEqual([409, 'last_admin']);
    expect((await add('admin')).statusCode).toBe(201);
    expect(await statusOf({})).toBe(401);
    expect(await statusOf(await as('ann'))).toBe(200);
  });

  it('answers the request that ends what admitted it, over a real connection', async () => {
    await open(new FakePeople());
    const url = `${await listen(testServer.app)}/v1/admin/users`;
    const send = (method: string, path: string, payload: object, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(payload),
      });
    const added = await send('POST', '', { name: 'ann', role: 'admin', password: 'anns-password' });
    expect(added.status).toBe(201);
    const ann = await as('ann');
    const changed = await send('PATCH', '/ann', { password: 'another-password' }, ann);
    expect([changed.status, await statusOf(ann)]).toEqual([200, 401]);
  });

  it('is not for pages of other sites, also with the cookie of an admin', async () => {
    await open();
    const headers = { ...(await as('ann')), origin: 'https://evil.example' };
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v1/admin/users',
      headers,
      payload: { name: 'mallory', role: 'admin', key: true },
    });
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'origin_refused']);
    const signIn = await testServer.app.inject({
      method: 'POST',
      url: '/v1/session',
      headers: { origin: 'https://evil.example' },
      payload: { name: 'bob', password: 'bobs-password' },
    });
    expect([signIn.statusCode, codeOf(signIn)]).toEqual([403, 'origin_refused']);
  });
});
