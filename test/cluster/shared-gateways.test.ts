/** Two gateways over one PostgreSQL: what one has begun goes on at the other. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { CallTokens } from '../../src/calls/admission/tokens.ts';
import { SignatureNonces } from '../../src/carriers/audiohook/signature-nonces.ts';
import { proofFor } from '../../src/cluster/forward/gateway-proof.ts';
import { OneUseTable } from '../../src/cluster/state/one-use-table.ts';
import { StateDatabase } from '../../src/cluster/state/state-database.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import {
  beginCall,
  CLUSTER_KEY,
  type ClusterGateway,
  callFromPage,
  live,
  type PageCall,
  startCluster,
} from '../helpers/cluster.ts';
import { startPostgres, type TestPostgres, whyNoPostgres } from '../helpers/postgres.ts';

type Json = Record<string, unknown>;

async function codeOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { error: Json }).error['code'];
}

describe.runIf(whyNoPostgres === '')(`two gateways of a cluster${whyNoPostgres}`, () => {
  let postgres: TestPostgres;
  let [one, two]: [ClusterGateway, ClusterGateway] = [undefined as never, undefined as never];
  let url = '';
  const databases: StateDatabase[] = [];
  const calls: PageCall[] = [];
  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase();
    const environment = { TRUSTED_PROXIES: '127.0.0.1' };
    [one, two] = (await startCluster(url, 2, environment)) as [ClusterGateway, ClusterGateway];
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close(), ...databases.map((database) => database.close())]);
    await postgres.remove();
  });
  afterEach(() => {
    for (const { socket } of calls.splice(0)) socket.terminate();
  });

  async function callAtTwo(frames = 5): Promise<PageCall> {
    const call = await callFromPage(one, two, frames);
    calls.push(call);
    await live(two, call.callId);
    return call;
  }

  const post = (at: ClusterGateway, path: string, body?: object, headers: Record<string, string> = {}) =>
    at.ask(path, { method: 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) });

  it('take each other’s tokens once, and lose no sound that comes while they ask', async () => {
    const prepared = (await (await post(one, '/v1/phone')).json()) as { callId: string; token: string };
    const call = await beginCall(two, prepared, 25);
    calls.push(call);
    await live(two, call.callId);
    await expect.poll(() => two.gateway.calls().find(({ id }) => id === call.callId)?.durationMs).toBe(500);
    const again = await beginCall(one, prepared);
    expect(await again.closed).toBe(4403);
  });

  it('let one alone take a token that both are asked for at the same time', async () => {
    const tables = [one, two].map(() => {
      const database = new StateDatabase(url);
      databases.push(database);
      return new OneUseTable({ database, clock: systemClock });
    });
    const [first, second] = tables.map((store) => new CallTokens({ clock: systemClock, store })) as [
      CallTokens,
      CallTokens,
    ];
    for (let round = 0; round < 200; round++) {
      const token = first.issue({ callId: 'CA1', from: null, to: null });
      // Half of them before the table has it.
      if (round % 2 === 0) await first.settled();
      const taken = await Promise.all([second, first, second].map((tokens) => tokens.redeem(token, 'CA1')));
      expect(taken.filter((known) => known !== null)).toHaveLength(1);
    }
    await Promise.all([first.settled(), second.settled()]);
    const left = await databases[0]?.query("SELECT 1 FROM one_use WHERE kind = 'call-token'", []);
    expect(left).toEqual([]);
  });

  it('let one alone accept a nonce', async () => {
    const nonces = [one, two].map(() => {
      const database = new StateDatabase(url);
      databases.push(database);
      return new SignatureNonces({ clock: systemClock, shared: new OneUseTable({ database, clock: systemClock }) });
    });
    for (let round = 0; round < 20; round++) {
      const accepted = await Promise.all(nonces.map((each) => each.isFirst(`nonce ${round}`)));
      expect(accepted.filter((isFirst) => isFirst)).toHaveLength(1);
    }
  });

  it('pass commands on to the one that has the call, and its answers back', async () => {
    const { callId } = await callAtTwo();
    const interrupted = await post(one, `/v1/calls/${callId}/interrupt`);
    expect([interrupted.status, await interrupted.json()]).toEqual([200, { interrupted: null }]);
    const said = await post(one, `/v1/calls/${callId}/say`, { text: 'hello' });
    expect([said.status, Object.keys((await said.json()) as Json)]).toEqual([202, ['utterance']]);
    const refused = await post(one, `/v1/calls/${callId}/say`, { text: '' });
    expect([refused.status, await codeOf(refused)]).toEqual([400, 'invalid_request']);
    const large = await post(one, `/v1/calls/${callId}/say`, { text: 'x'.repeat(70_000) });
    expect([large.status, await codeOf(large)]).toEqual([413, 'message_too_large']);
    expect((await post(one, `/v1/calls/${callId}/dtmf`, { digits: '1' })).status).toBe(202);
    expect((await post(one, `/v1/calls/${callId}/hangup`)).status).toBe(202);
    await expect.poll(() => two.gateway.calls().find(({ id }) => id === callId)?.state).toBe('ended');
    const late = await post(one, `/v1/calls/${callId}/hangup`);
    expect([late.status, await codeOf(late)]).toEqual([404, 'call_not_found']);
  });

  it('show a live call as the one that has it sees it', async () => {
    const call = await callAtTwo(50);
    const { callId } = call;
    await expect
      .poll(async () => ((await (await one.ask(`/v1/calls/${callId}`)).json()) as Json)['durationMs'])
      .toBe(1000);
    const view = (await (await one.ask(`/v1/calls/${callId}`)).json()) as Json;
    expect(view).toMatchObject({ id: callId, state: 'live' });
    const transcript = await one.ask(`/v1/calls/${callId}/transcript`);
    expect([transcript.status, await transcript.json()]).toEqual([200, { data: [] }]);
    const text = await one.ask(`/v1/calls/${callId}/transcript?format=text`);
    expect(text.headers.get('content-type')).toMatch(/^text\/plain/);
    expect((await post(one, `/v1/calls/${callId}/notes`, { text: 'a note' })).status).toBe(201);
    await expect
      .poll(async () => (await (await one.ask(`/v1/audit?call=${callId}&action=call.noted`)).json()) as Json)
      .toMatchObject({ data: [{ who: expect.stringMatching(/^key-/), role: 'admin', action: 'call.noted', callId }] });
    const unknown = await one.ask('/v1/calls/nobody');
    expect([unknown.status, await codeOf(unknown)]).toEqual([404, 'call_not_found']);
  });

  it('know each other’s browsers, and each other’s users', async () => {
    const headers = { authorization: '' };
    const added = await post(one, '/v1/admin/users', {
      name: 'ann',
      role: 'agent',
      agent: 'ann',
      password: 'a long password',
    });
    expect(added.status).toBe(201);
    await expect
      .poll(async () => (await post(two, '/v1/session', { name: 'ann', password: 'a long password' }, headers)).status)
      .toBe(204);
    const signedIn = await post(two, '/v1/session', { name: 'ann', password: 'a long password' }, headers);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const asAnn = (at: ClusterGateway, path = '/v1/session') =>
      at.ask(path, { headers: { authorization: '', cookie } });
    expect([(await asAnn(one)).status, (await asAnn(two)).status]).toEqual([200, 200]);
    const { callId } = await callAtTwo();
    expect((await asAnn(one, `/v1/calls/${callId}`)).status).toBe(404);
    expect((await one.ask('/v1/session', { method: 'DELETE', headers: { authorization: '', cookie } })).status).toBe(
      204,
    );
    expect((await asAnn(one)).status).toBe(401);
    await expect.poll(async () => (await asAnn(two)).status, { timeout: 2500 }).toBe(401);
    expect((await asAnn(one)).status).toBe(401);
  });

  it('end at both when somebody signs out of all browsers', async () => {
    await post(one, '/v1/admin/users', { name: 'bob', role: 'supervisor', password: 'a long password' });
    const signIn = async (at: ClusterGateway) => {
      const answer = await post(at, '/v1/session', { name: 'bob', password: 'a long password' }, { authorization: '' });
      return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    };
    await expect.poll(() => signIn(two)).not.toBe('');
    const [first, second] = [await signIn(one), await signIn(two)];
    const status = async (at: ClusterGateway, cookie: string) =>
      (await at.ask('/v1/session', { headers: { authorization: '', cookie } })).status;
    expect([await status(two, first), await status(one, second)]).toEqual([200, 200]);
    await one.ask('/v1/session?everywhere=true', { method: 'DELETE', headers: { authorization: '', cookie: first } });
    for (const at of [one, two])
      for (const cookie of [first, second]) await expect.poll(() => status(at, cookie), { timeout: 2500 }).toBe(401);
  });

  it('count wrong keys together', async () => {
    // Of an address that no other test has.
    const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': '192.0.2.1' };
    const guess = async (at: ClusterGateway) => (await at.ask('/v1/session', { headers })).status;
    // One comes back every 6 s, so on a slow machine it takes some more than ten.
    await expect.poll(() => guess(one), { interval: 1, timeout: 20_000 }).toBe(429);
    let wrong = 0;
    const guessAtTwo = async () => {
      const status = await guess(two);
      if (status === 401) wrong++;
      return status;
    };
    await expect.poll(guessAtTwo, { interval: 1000, timeout: 20_000 }).toBe(429);
    // Alone it would have let ten through.
    expect(wrong).toBeLessThan(10);
    const right = { 'x-forwarded-for': '192.0.2.2' };
    expect((await two.ask('/v1/session', { headers: right })).status).toBe(200);
  });

  it.each([
    ['no key', {}],
    ['a wrong key', { 'x-trunkline-cluster-key': 'guess' }],
    ['an empty key', { 'x-trunkline-cluster-key': '' }],
  ])('refuse whoever says that a gateway asks, with %s', async (_what, key) => {
    const { callId } = await callAtTwo();
    const principal = Buffer.from(JSON.stringify({ name: 'x', role: 'admin', agent: null, tenant: '' })).toString(
      'base64url',
    );
    const forged = { authorization: '', 'x-trunkline-hop': 'one', 'x-trunkline-principal': principal, ...key };
    const answer = await post(two, `/v1/calls/${callId}/hangup`, undefined, forged);
    expect([answer.status, await codeOf(answer)]).toEqual([403, 'cluster_key_invalid']);
    expect(two.gateway.calls().find(({ id }) => id === callId)?.state).toBe('live');
  });

  it('trust each other on no route but those of calls, and pass nothing on twice', async () => {
    const { callId } = await callAtTwo();
    const principal = Buffer.from(JSON.stringify({ name: 'x', role: 'admin', agent: null, tenant: '' })).toString(
      'base64url',
    );
    const hop = { authorization: '', 'x-trunkline-hop': 'three', 'x-trunkline-principal': principal };
    const headersFor = ({ url }: ClusterGateway) => ({ ...hop, 'x-trunkline-cluster-key': proofFor(CLUSTER_KEY, url) });
    const headers = headersFor(two);
    expect((await one.ask('/v1/admin/users', { headers: headersFor(one) })).status).toBe(403);
    expect((await one.ask('/v1/calls', { headers: headersFor(one) })).status).toBe(403);
    expect((await post(one, `/v1/calls/${callId}/hangup`, undefined, headersFor(one))).status).toBe(404);
    // What opens one gateway opens no other.
    expect((await post(one, `/v1/calls/${callId}/interrupt`, undefined, headers)).status).toBe(403);
    expect((await post(two, `/v1/calls/${callId}/interrupt`, undefined, headers)).status).toBe(200);
    const garbled = { ...headers, 'x-trunkline-principal': 'no principal' };
    expect((await post(two, `/v1/calls/${callId}/interrupt`, undefined, garbled)).status).toBe(400);
    const agent = { name: 'x', role: 'agent', agent: 'eve', tenant: '' };
    const asAgent = { ...headers, 'x-trunkline-principal': Buffer.from(JSON.stringify(agent)).toString('base64url') };
    expect((await post(two, `/v1/calls/${callId}/interrupt`, undefined, asAgent)).status).toBe(404);
    const socket = new WebSocket(`${two.url.replace('http', 'ws')}/v1/captions`, { headers });
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.on('error', () => undefined);
      socket.on('open', () => resolve(101));
    });
    socket.terminate();
    expect(status).toBe(403);
  });

  it('take each other’s tokens once while the database is away', async () => {
    await postgres.stop('crash');
    const prepared = (await (await post(one, '/v1/phone')).json()) as { callId: string; token: string };
    const call = await beginCall(two, prepared);
    calls.push(call);
    await live(two, call.callId);
    expect(await (await beginCall(two, prepared)).closed).toBe(4403);
  });
});
