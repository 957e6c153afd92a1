/** Who may do what with calls of another gateway: as with those of one's own. */
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { proofFor } from '../../src/cluster/forward/gateway-proof.ts';
import {
  API_KEY,
  CLUSTER_KEY,
  type ClusterGateway,
  callFromPage,
  live,
  type PageCall,
  startCluster,
} from '../helpers/cluster.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../helpers/postgres.ts';

type Json = Record<string, unknown>;

describe.runIf(whyNoPostgres === '')(`people at two gateways${whyNoPostgres}`, () => {
  let postgres: SharedPostgres;
  let [one, two]: [ClusterGateway, ClusterGateway] = [undefined as never, undefined as never];
  const keys: Record<string, string> = {};
  const calls: PageCall[] = [];
  beforeAll(async () => {
    postgres = await sharedPostgres();
    [one, two] = (await startCluster(await postgres.createDatabase())) as [ClusterGateway, ClusterGateway];
    for (const name of ['ann', 'eve']) {
      const body = JSON.stringify({ name, role: 'agent', agent: name, key: true });
      const added = await one.ask('/v1/admin/users', { method: 'POST', body });
      keys[name] = String(((await added.json()) as Json)['key']);
      // Wrong keys count, so not as often as can be.
      await vi.waitFor(async () => expect((await as(name, two, '/v1/calls')).status).toBe(200), {
        interval: 1500,
        timeout: 20_000,
      });
    }
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
  });
  afterEach(() => {
    for (const { socket } of calls.splice(0)) socket.terminate();
  });

  async function callOfAnn(): Promise<string> {
    const call = await callFromPage(one, two, 5, undefined, { agent: 'ann' });
    calls.push(call);
    await live(two, call.callId);
    return call.callId;
  }

  const as = (name: string, at: ClusterGateway, path: string, init: RequestInit = {}) =>
    at.ask(path, { ...init, headers: { authorization: `Bearer ${keys[name]}`, ...init.headers } });
  const principal = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url');
  const forwarded = (fields: object) => ({
    'x-trunkline-cluster-key': proofFor(CLUSTER_KEY, two.url),
    'x-trunkline-hop': 'three',
    'x-trunkline-principal': principal(fields),
  });

  it('see and touch no call of another agent', async () => {
    const id = await callOfAnn();
    const status = async (name: string, method: string, path: string, body?: object) => {
      const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
      return (await as(name, one, `/v1/calls/${id}${path}`, init)).status;
    };
    const asked: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['GET', '/transcript'],
      ['GET', '/events'],
      ['POST', '/interrupt'],
      ['POST', '/notes', { text: 'a note' }],
    ];
    for (const [method, path, body] of asked) {
      expect([path, await status('eve', method, path, body)]).toEqual([path, 404]);
      expect([path, await status('ann', method, path, body)]).not.toEqual([path, 404]);
    }
    const listOf = async (name: string) => JSON.stringify(await (await as(name, one, '/v1/calls')).json());
    await expect.poll(() => listOf('ann')).toContain(id);
    expect(await listOf('eve')).not.toContain(id);
    expect(await status('ann', 'DELETE', '')).toBe(403);
    await expect
      .poll(async () => (await one.ask(`/v1/audit?call=${id}&action=call.noted`)).json())
      .toMatchObject({ data: [{ who: 'ann', role: 'agent' }] });
  });

  it('are who the other gateway says, whatever session or key is beside it, and with no rights of one’s own', async () => {
    const id = await callOfAnn();
    const eve = { name: 'eve', role: 'agent', agent: 'eve', tenant: '' };
    // An admin's key is beside it.
    expect((await two.ask(`/v1/calls/${id}`, { headers: forwarded(eve) })).status).toBe(404);
    for (const wrong of [
      { ...eve, role: 'root' },
      { ...eve, role: ['admin'] },
      { ...eve, isAdmin: true },
      { ...eve, agent: 7 },
      { ...eve, name: 'x'.repeat(5000) },
      [eve],
    ])
      expect((await two.ask(`/v1/calls/${id}`, { headers: forwarded(wrong) })).status).toBe(400);
    const { 'x-trunkline-hop': _hop, ...unnamed } = forwarded(eve);
    expect((await two.ask(`/v1/calls/${id}`, { headers: unnamed })).status).toBe(400);
  });

  it.each([
    ['the key itself', { 'x-trunkline-cluster-key': CLUSTER_KEY }, 403],
    ['several keys', { 'x-trunkline-cluster-key': [CLUSTER_KEY, CLUSTER_KEY] }, 403],
    ['a hop alone', { 'x-trunkline-hop': 'one' }, 403],
    ['a principal alone', { 'X-Trunkline-Principal': principal({ role: 'admin' }) }, 403],
    ['an underscore for a dash', { x_trunkline_cluster_key: CLUSTER_KEY, x_trunkline_principal: 'x' }, 401],
  ])('are nobody with %s', async (_what, headers, expected) => {
    const id = await callOfAnn();
    expect(await statusOf(`${two.url}/v1/calls/${id}`, { headers })).toBe(expected);
  });

  it.each(['%2e%2e', '..%2f..%2fv1%2fadmin%2fusers', '%00', 'a%0d%0aX-A:%20b', '%ff', 'x?y', '.'])(
    'reach nothing else by the id %s',
    async (id) => {
      for (const headers of [{}, { authorization: `Bearer ${API_KEY}` }]) {
        const answer = await as('ann', one, `/v1/calls/${id}/hangup`, { method: 'POST', headers });
        expect([400, 403, 404]).toContain(answer.status);
        expect([200, 400, 404]).toContain((await as('ann', one, `/v1/calls/${id}`, { headers })).status);
      }
    },
  );

  it('send no more to the other gateway than the route allows, in pieces of unknown number', async () => {
    const id = await callOfAnn();
    const headers = { authorization: `Bearer ${keys['ann']}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: 'x'.repeat(2_000_000) });
    expect(await statusOf(`${one.url}/v1/calls/${id}/notes`, { method: 'POST', headers }, body)).toBe(413);
  });
});

/** The status of an answer, with headers that `fetch` would not send; 0 = the connection ended. */
function statusOf(
  url: string,
  options: { method?: string; headers: Record<string, string | string[]> },
  body = '',
): Promise<number> {
  return new Promise((resolve) => {
    const asked = request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', () => resolve(0));
    for (let at = 0; at < body.length; at += 50_000) asked.write(body.slice(at, at + 50_000));
    asked.end();
  });
}
