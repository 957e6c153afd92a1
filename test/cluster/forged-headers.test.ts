/** What strangers say through the nginx of deploy/ that only gateways may say to one another. */
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { proofFor } from '../../src/cluster/forward/gateway-proof.ts';
import { API_KEY, CLUSTER_KEY, type ClusterGateway, callFromPage, live, startCluster } from '../helpers/cluster.ts';
import { startDeployedNginx, whyNoNginx } from '../helpers/nginx.ts';
import { type SharedPostgres, sharedPostgres, whyNoPostgres } from '../helpers/postgres.ts';

type Headers = Readonly<Record<string, string>>;

const ADMIN = Buffer.from(JSON.stringify({ name: 'x', role: 'admin', agent: null, tenant: '' })).toString('base64url');
const HOP = { 'x-trunkline-hop': 'two', 'x-trunkline-principal': ADMIN };

/** Stands for what opens the gateway `two`, whose address is known later. */
const PROOF = 'proof';

/** What a stranger may try; the last ones know the key, or what opens a gateway. */
const FORGED: readonly [string, Headers][] = [
  ['a hop alone', { 'x-trunkline-hop': 'two' }],
  ['a principal alone', { 'x-trunkline-principal': ADMIN }],
  ['a hop and a principal without a key', HOP],
  ['an empty key', { ...HOP, 'x-trunkline-cluster-key': '' }],
  ['a wrong key', { ...HOP, 'x-trunkline-cluster-key': 'guess' }],
  ['the key itself', { ...HOP, 'x-trunkline-cluster-key': CLUSTER_KEY }],
  ['the right proof', { ...HOP, 'x-trunkline-cluster-key': PROOF }],
  ['the right proof in capitals', { ...HOP, 'X-TRUNKLINE-CLUSTER-KEY': PROOF }],
  ['the right proof with underscores', { ...HOP, x_trunkline_cluster_key: PROOF }],
  ['the right proof behind a list', { ...HOP, 'x-trunkline-cluster-key': PROOF, connection: 'x-trunkline-hop' }],
];

describe.runIf(whyNoPostgres + whyNoNginx === '')(`gateways behind nginx${whyNoPostgres}${whyNoNginx}`, () => {
  let postgres: SharedPostgres;
  let nginx: Awaited<ReturnType<typeof startDeployedNginx>>;
  let [one, two]: [ClusterGateway, ClusterGateway] = [undefined as never, undefined as never];
  let callId = '';
  beforeAll(async () => {
    postgres = await sharedPostgres();
    const environment = { TRUSTED_PROXIES: '127.0.0.1' };
    [one, two] = (await startCluster(await postgres.createDatabase(), 2, environment)) as [
      ClusterGateway,
      ClusterGateway,
    ];
    nginx = await startDeployedNginx([one, two].map(({ url }) => Number(new URL(url).port)));
    const call = await callFromPage(one, two);
    ({ callId } = call);
    await live(two, callId);
  });
  afterAll(async () => {
    await nginx.close();
    await Promise.all([one.close(), two.close()]);
  });

  function proven(headers: Headers): Headers {
    const proof = proofFor(CLUSTER_KEY, two.url);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value === PROOF ? proof : value]));
  }

  function ask(method: string, path: string, headers: Headers): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(
        `${nginx.url}${path}`,
        { method, headers: proven(headers), rejectUnauthorized: false },
        (response) => {
          let body = '';
          response.on('data', (chunk: Buffer) => {
            body += chunk.toString();
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        },
      );
      sent.on('error', reject);
      sent.end();
    });
  }

  const isLive = () => two.gateway.calls().find(({ id }) => id === callId)?.state === 'live';

  it('pass the requests of those with an API key, whichever gateway has the call', async () => {
    const headers = { authorization: `Bearer ${API_KEY}` };
    for (let n = 0; n < 4; n++) expect((await ask('GET', `/v1/calls/${callId}`, headers)).status).toBe(200);
  });

  it.each(FORGED)('are nobody to a gateway with %s', async (_what, headers) => {
    for (let n = 0; n < 2; n++) {
      const hangup = await ask('POST', `/v1/calls/${callId}/hangup`, headers);
      expect([hangup.status, hangup.body]).toEqual([401, expect.stringContaining('"code":"api_key_missing"')]);
      expect((await ask('GET', '/v1/calls', headers)).status).toBe(401);
      expect((await ask('GET', '/v1/admin/users', headers)).status).toBe(401);
    }
    expect(isLive()).toBe(true);
  });

  it.each(FORGED)('are who their API key says, whatever they add: %s', async (_what, headers) => {
    const withKey = { ...headers, authorization: `Bearer ${API_KEY}` };
    expect((await ask('GET', `/v1/calls/${callId}`, withKey)).status).toBe(200);
  });

  it.each(FORGED)('open no WebSocket with %s', async (_what, headers) => {
    const url = `${nginx.url.replace('http', 'ws')}/v1/captions`;
    const { connection: _, ...sent } = headers;
    const socket = new WebSocket(url, { headers: sent, rejectUnauthorized: false });
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.on('error', () => undefined);
      socket.on('open', () => resolve(101));
    });
    socket.terminate();
    expect(status).toBe(401);
  });

  it('are shown to be stopped by nginx: the right proof opens a gateway that is asked directly', async () => {
    const headers = proven({ ...HOP, 'x-trunkline-cluster-key': PROOF });
    const answer = await fetch(`${two.url}/v1/calls/${callId}/interrupt`, { method: 'POST', headers });
    expect(answer.status).toBe(200);
  });
});
