import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakePeople } from '../../fakes/people.ts';
import { listen, liveCall, startServer, type TestServer } from '../test-server.ts';
import { bearer, codeOf, team } from './team.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

const KEY = 'one-key-of-the-operator';

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

describe('a person', () => {
  it('signs in with name and password, in any case of the name, and learns who they are', async () => {
    await open();
    const answer = await post({ name: 'BOB', password: 'bobs-password' });
    const headers = { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' };
    const me = (await testServer.app.inject({ url: '/v1/session', headers })).json<{ permissions: string[] }>();
    expect(me).toMatchObject({ name: 'bob', role: 'agent', agent: 'bob' });
    expect(me.permissions).toContain('calls.read');
    expect(me.permissions).not.toContain('calls.make');
  });

  it.each([
    ['a wrong password', { name: 'bob', password: 'anns-password' }],
    ['a name that nobody has', { name: 'nobody', password: 'bobs-password' }],
    ["a key's name", { name: 'crm', password: 'crms-key' }],
    ['an empty password', { name: 'bob', password: '' }],
  ])('is refused in the same words for %s, after one comparison', async (_what, payload) => {
    const people = await open();
    const answer = await post(payload);
    expect([answer.statusCode, codeOf(answer), answer.headers['set-cookie']]).toEqual([
      401,
      'credentials_invalid',
      undefined,
    ]);
    const { message } = answer.json<{ error: { message: string } }>().error;
    expect(message).toBe('there is no user with that name and password');
    expect(people.compared).toHaveLength(1);
    expect(testServer.logLines.join('')).not.toContain('password"');
  });

  it('locks the server, this machine and ALLOW_ANONYMOUS included', async () => {
    await open(team(), { ALLOW_ANONYMOUS: 'true' });
    expect(await statusOf({})).toBe(401);
  });

  it('is as good as one of API_KEYS beside it, which is an admin', async () => {
    await open(team(), { API_KEYS: KEY });
    expect((await testServer.app.inject({ url: '/v1/session', headers: bearer(KEY) })).json()).toMatchObject({
      role: 'admin',
      name: expect.stringMatching(/^key-[\w-]{6}$/),
    });
    expect(await statusOf(bearer('crms-key'))).toBe(200);
    expect(await statusOf(bearer('crms-kez'))).toBe(401);
  });
});

describe('a session', () => {
  it.each<[string, (people: FakePeople) => Promise<unknown>]>([
    ['removed', ({ users }) => users.remove('bob')],
    ['given another role', ({ users }) => users.change('bob', { role: 'supervisor', agent: null })],
    ['given another agent', ({ users }) => users.change('bob', { agent: 'eve' })],
    ['given another password', ({ users }) => users.change('bob', { secret: 'hash of another' })],
  ])('ends when its user is %s', async (_what, change) => {
    const people = await open();
    const [bob, sue] = [await browserOf('bob'), await browserOf('sue')];
    expect([await statusOf(bob), await statusOf(sue)]).toEqual([200, 200]);
    await change(people);
    expect([await statusOf(bob), await statusOf(sue)]).toEqual([401, 200]);
  });

  it('of a removed user does not come back with a new user of the same name', async () => {
    const people = await open();
    const bob = await browserOf('bob');
    const { secret } = people.users.list.get('bob');
    await people.users.remove('bob');
    await people.users.add({ name: 'bob', kind: 'person', role: 'agent', agent: 'bob', secret, createdMs: 2 });
    expect(await statusOf(bob)).toBe(401);
  });

  it('goes on after a restart, unless it was ended', async () => {
    const people = await open();
    const [bob, sue] = [await browserOf('bob'), await browserOf('sue')];
    await testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers: sue });
    await testServer.app.close();
    await open(people);
    expect([await statusOf(bob), await statusOf(sue)]).toEqual([200, 401]);
  });

  it('with one of API_KEYS ends when the key is gone at the next start', async () => {
    const people = await open(team(), { API_KEYS: KEY });
    const answer = await post({ key: KEY });
    const headers = { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' };
    expect(await statusOf(headers)).toBe(200);
    await testServer.app.close();
    await open(people, { API_KEYS: 'another-key-of-the-operator' });
    expect(await statusOf(headers)).toBe(401);
  });

  it('ends everywhere for one user when that is asked for', async () => {
    await open();
    const [here, there, sue] = [await browserOf('bob'), await browserOf('bob'), await browserOf('sue')];
    await testServer.app.inject({ method: 'DELETE', url: '/v1/session?everywhere=true', headers: here });
    expect([await statusOf(here), await statusOf(there), await statusOf(sue)]).toEqual([401, 401, 200]);
  });

  it('of the keyless operator ends with the first user', async () => {
    const people = await open(new FakePeople());
    expect(await statusOf({})).toBe(200);
    people.with('ann', 'admin');
    expect(await statusOf({})).toBe(401);
    await people.users.remove('ann');
    expect(await statusOf({})).toBe(401);
  });
});

describe('what is open', () => {
  /** Resolves with the close code and reason. */
  const closeOf = (socket: WebSocket) =>
    new Promise<string>((resolve) => socket.once('close', (code, reason) => resolve(`${code} ${reason}`)));

  async function feedOf(headers: Record<string, string>): Promise<WebSocket> {
    const url = (await listen(testServer.app)).replace('http', 'ws');
    const socket = new WebSocket(`${url}/v1/captions`, { headers });
    await new Promise((resolve) => socket.once('open', resolve));
    return socket;
  }

  it('ends at once when its user signs out: a WebSocket with 4001', async () => {
    await open();
    const bob = await browserOf('bob');
    const closed = closeOf(await feedOf(bob));
    await testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers: bob });
    expect(await closed).toBe('4001 signed_out');
  });

  it('ends at once when its user is removed, and with the key of a program too', async () => {
    const people = await open();
    const closed = closeOf(await feedOf(bearer('crms-key')));
    await people.users.remove('crm');
    expect(await closed).toBe('4001 signed_out');
  });

  it('ends when its session has lasted twelve hours', async () => {
    await open();
    const url = await listen(testServer.app);
    const response = await fetch(`${url}/v1/captions`, { headers: await browserOf('bob') });
    let isOpen = true;
    const ended = response.text().catch(() => {
      isOpen = false;
    });
    testServer.clock.advance(12 * 3_600_000 - 1);
    expect([isOpen, testServer.clock.pending > 0]).toEqual([true, true]);
    testServer.clock.advance(2000);
    await ended;
    expect(isOpen).toBe(false);
  });

  it('ends as Server-Sent Events too, and goes on for others', async () => {
    await open();
    const url = await listen(testServer.app);
    const [bob, sue] = [await browserOf('bob'), await browserOf('sue')];
    const feed = (headers: Record<string, string>) => fetch(`${url}/v1/captions`, { headers });
    const [ofBob, ofSue] = [await feed(bob), await feed(sue)];
    const ended = ofBob.text().catch(() => 'cut');
    const more = ofSue.body?.getReader();
    await more?.read();
    await testServer.app.inject({ method: 'DELETE', url: '/v1/session', headers: bob });
    expect(await ended).toBeDefined();
    testServer.feed.publish({ type: 'call.deleted', callId: 'CA1' });
    expect(new TextDecoder().decode((await more?.read())?.value)).toContain('call.deleted');
    await more?.cancel();
  });
});

describe('guessing passwords', () => {
  it('of one name from many addresses is stopped, but not where the name has signed in before', async () => {
    const people = await open(team(), { TRUSTED_PROXIES: '127.0.0.1' });
    const guess = (address: string, password = 'guess') => post({ name: 'bob', password }, address);
    expect((await guess('198.51.100.1', 'bobs-password')).statusCode).toBe(204);
    const codes: string[] = [];
    for (let at = 0; at < 12; at += 1) codes.push(codeOf(await guess(`192.0.2.${at}`)));
    expect(codes).toEqual([...Array(10).fill('credentials_invalid'), ...Array(2).fill('too_many_attempts')]);
    expect((await guess('192.0.2.99', 'bobs-password')).statusCode).toBe(429);
    expect((await guess('198.51.100.1', 'bobs-password')).statusCode).toBe(204);
    expect(people.compared).toHaveLength(12);
  });

  it('of one name does not stop it in a browser that it signed in with, until its password changes', async () => {
    const people = await open();
    const signIn = (remoteAddress: string, cookie = '') => {
      const payload = { name: 'bob', password: 'bobs-password' };
      return testServer.app.inject({ method: 'POST', url: '/v1/session', payload, remoteAddress, headers: { cookie } });
    };
    const [, browser = ''] = (await signIn('198.51.100.1')).headers['set-cookie'] as string[];
    expect(browser).toMatch(
      /^trunkline_browser=[\w-]{43}; Path=\/v1\/session; Max-Age=31536000; HttpOnly; SameSite=Strict$/,
    );
    const [mark = ''] = browser.split(';');
    for (let at = 0; at < 12; at += 1) await post({ name: 'bob', password: 'guess' }, `192.0.2.${at}`);
    expect((await signIn('203.0.113.1')).statusCode).toBe(429);
    expect((await signIn('203.0.113.2', `${mark}x`)).statusCode).toBe(429);
    expect((await signIn('203.0.113.3', mark)).statusCode).toBe(204);
    for (let at = 0; at < 12; at += 1) await post({ name: 'bob', password: 'guess' }, `192.0.2.${100 + at}`);
    await people.users.change('bob', { secret: 'hash of bobs-password ' });
    expect((await signIn('203.0.113.4', mark)).statusCode).toBe(429);
  });

  it('of names that nobody has is stopped alike', async () => {
    await open();
    const codes: string[] = [];
    for (let at = 0; at < 11; at += 1)
      codes.push(codeOf(await post({ name: 'nobody', password: 'guess' }, `192.0.2.${at}`)));
    expect(codes.at(-1)).toBe('too_many_attempts');
  });

  it('at the same time counts before any is checked', async () => {
    await open();
    const all = await Promise.all(
      Array.from({ length: 30 }, (_, at) => post({ name: `user${at}`, password: 'guess' }, '192.0.2.1')),
    );
    expect(all.filter(({ statusCode }) => statusCode === 401)).toHaveLength(10);
  });
});

describe('an agent', () => {
  const call = (id: string, agent: string | null) => ({ ...liveCall(id), agent });

  async function openCalls(): Promise<Record<string, string>> {
    await open();
    testServer.calls.views.push(call('CA1', 'bob'), call('CA2', 'eve'), call('CA3', null));
    return browserOf('bob');
  }

  it('has a list of their own calls, with masked numbers', async () => {
    const bob = await openCalls();
    const { data } = (await testServer.app.inject({ url: '/v1/calls', headers: bob })).json<{
      data: { id: string; from: string }[];
    }>();
    expect(data.map(({ id, from }) => [id, from])).toEqual([['CA1', '+••••••••100']]);
    expect((await testServer.app.inject({ url: '/v1/calls/CA1', headers: bob })).json()).toMatchObject({
      from: '+••••••••100',
    });
  });

  it("cannot tell another's call from one that does not exist", async () => {
    const bob = await openCalls();
    const answers = await Promise.all(
      ['CA2', 'CA3', 'CA4'].map((id) => testServer.app.inject({ url: `/v1/calls/${id}`, headers: bob })),
    );
    const withoutId = (body: string) => body.replace(/"request_id":"[^"]*"/, '');
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${withoutId(body)}`)).size).toBe(1);
    expect(answers[0]?.statusCode).toBe(404);
  });

  it('does not say how long a call is kept: no time would delete it', async () => {
    const headers = await openCalls();
    const change = (payload: object) =>
      testServer.app.inject({ method: 'PATCH', url: '/v1/calls/CA1', headers, payload });
    const refused = await change({ outcome: 'sold', retainDays: 0 });
    expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'role_refused']);
    expect(testServer.calls.get('CA1')).not.toMatchObject({ outcome: 'sold' });
  });

  it('gets the feed of their own calls alone, also by name and when it is replayed', async () => {
    const bob = await openCalls();
    const started = (callId: string, agent: string | null) =>
      testServer.feed.publish({
        type: 'call.started',
        callId,
        carrier: 'twilio',
        from: '+14155550100',
        to: null,
        startedAt: '2026-01-01T00:00:00.000Z',
        tracks: ['inbound'],
        names: { inbound: null, outbound: null },
        agent,
        queue: null,
        app: null,
      });
    const digit = (callId: string, digit: string) => testServer.feed.publish({ type: 'dtmf', callId, digit, atMs: 1 });
    started('CA1', 'bob');
    started('CA2', 'eve');
    digit('CA2', '2');
    digit('CA9', '9');
    const url = await listen(testServer.app);
    const read = async (query: string, headers: Record<string, string>): Promise<string> => {
      const response = await fetch(`${url}/v1/captions?${query}`, { headers });
      const reader = response.body?.getReader();
      let text = '';
      digit('CA2', '2');
      digit('CA1', '1');
      while (!text.includes('"digit":"1"')) text += new TextDecoder().decode((await reader?.read())?.value);
      await reader?.cancel();
      return text;
    };
    const replay = await read('after=e-0', bob);
    expect(replay).toContain('"callId":"CA1"');
    expect(replay).not.toMatch(/CA2|CA9|14155550/);
    const sue = await read('after=e-0', await browserOf('sue'));
    expect(sue).toMatch(/CA2.*14155550100/s);
    const asked = await fetch(`${url}/v1/captions?call=CA2&after=e-0`, { headers: bob });
    const reader = asked.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    started('CA1', 'bob');
    await reader?.cancel();
    expect(first).not.toContain('CA2');
  });
});

describe('users who cannot be read', () => {
  async function openUnreadable(environment: Record<string, string> = {}): Promise<void> {
    const people = new FakePeople();
    people.areUnreadable = true;
    await open(people, environment);
  }

  it.each<[string, Record<string, string>]>([
    ['', {}],
    [' with ALLOW_ANONYMOUS', { ALLOW_ANONYMOUS: 'true' }],
  ])('leave no door open%s: nobody gets in, not even from this machine', async (_what, environment) => {
    await openUnreadable(environment);
    for (const url of ['/v1/calls', '/v1/session', '/v1/admin/users'])
      expect(codeOf(await testServer.app.inject({ url }))).toBe('users_unreadable');
    const signIn = await post({ name: 'bob', password: 'bobs-password' });
    expect([signIn.statusCode, codeOf(signIn)]).toEqual([503, 'users_unreadable']);
    expect((await testServer.app.inject({ url: '/' })).statusCode).toBe(200);
  });

  it('do not lock out the keys of the operator', async () => {
    await openUnreadable({ API_KEYS: KEY });
    expect(await statusOf(bearer(KEY))).toBe(200);
    expect(await statusOf({})).toBe(401);
  });
});
