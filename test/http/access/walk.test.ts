/** Every route of the description is asked for by every role, and by nobody. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROLES } from '../../../src/foundation/roles.ts';
import { PERMISSIONS, type Permission } from '../../../src/http/access/permissions.ts';
import { FakePeople } from '../../fakes/people.ts';
import { liveCall, startServer, type TestServer } from '../test-server.ts';

interface Described {
  readonly paths: Record<string, Record<string, { 'x-permission'?: Permission }>>;
}

let testServer: TestServer;
let routes: readonly { method: string; path: string; permission: Permission }[];

beforeEach(async () => {
  const people = new FakePeople();
  for (const role of ROLES) people.with(role, role, { kind: 'key', agent: role === 'agent' ? 'bob' : null });
  testServer = await startServer({}, undefined, people);
  testServer.calls.views.push({ ...liveCall('theirs'), agent: 'bob' }, { ...liveCall('others'), agent: 'eve' });
  const headers = { authorization: 'Bearer admins-key' };
  const { paths } = (await testServer.app.inject({ url: '/docs/json', headers })).json<Described>();
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { 'x-permission': permission }]) =>
      permission === undefined ? [] : [{ method: method.toUpperCase(), path, permission }],
    ),
  );
});
afterEach(() => testServer.app.close());

/** Streams never end by themselves: of these the refusal alone is looked at. */
const ENDLESS = new Set(['/v1/captions']);

async function ask(method: string, path: string, key?: string, id = 'theirs') {
  const url = path
    .replace('{id}', id)
    .replace('{number}', '0')
    .replace(/\{\w+\}/g, 'x');
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const { statusCode, body } = await testServer.app.inject({
    method: method as 'GET',
    url,
    headers,
    ...(method !== 'GET' && method !== 'DELETE' && { payload: {} }),
  });
  // Routes of the Qwen3 servers and of Deepgram have codes in capitals, the latter some of their own.
  const code = (/"(?:err_)?code":"(\w+)"/.exec(body)?.[1] ?? '').toLowerCase();
  return { statusCode, code: OF_DEEPGRAM[code] ?? code, body };
}

const OF_DEEPGRAM: Readonly<Record<string, string>> = {
  invalid_auth: 'api_key_missing',
  insufficient_permissions: 'role_refused',
};

describe('each guarded route', () => {
  it('is found', () => {
    expect(routes.length).toBeGreaterThan(35);
  });

  it('asks for a key', async () => {
    for (const { method, path } of routes) {
      const { statusCode, code } = await ask(method, path);
      expect([method, path, statusCode, code]).toEqual([method, path, 401, 'api_key_missing']);
    }
  });

  it('is refused to every role that has not its permission, before anything of the request is looked at', async () => {
    for (const { method, path, permission } of routes) {
      for (const role of ROLES) {
        const isPermitted = (PERMISSIONS[permission] as readonly string[]).includes(role);
        if (isPermitted && ENDLESS.has(path)) continue;
        const { statusCode, code } = await ask(method, path, `${role}s-key`);
        if (!isPermitted)
          expect([method, path, role, statusCode, code]).toEqual([method, path, role, 403, 'role_refused']);
        else expect([method, path, role, code]).not.toEqual([method, path, role, 'role_refused']);
      }
    }
  });

  it("of a call does not exist for an agent whose call it is not, whatever the request's method", async () => {
    const ofCalls = routes.filter(
      ({ path, permission }) =>
        path.startsWith('/v1/calls/{id}') && (PERMISSIONS[permission] as readonly string[]).includes('agent'),
    );
    expect(ofCalls.length).toBeGreaterThan(5);
    for (const { method, path } of ofCalls) {
      const others = await ask(method, path, 'agents-key', 'others');
      expect([method, path, others.statusCode, others.code]).toEqual([method, path, 404, 'call_not_found']);
      expect(others.body).toContain('there is no call of yours');
      for (const id of ['%6fthers', 'others?x=1', 'others/', '../calls/others'])
        expect((await ask(method, path, 'agents-key', id)).body).not.toContain('14155550100');
    }
    expect(testServer.calls.hungUp).toEqual([]);
  });
});
