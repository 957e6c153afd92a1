/** Attacks on what gateways pass on to each other, and gateways that are slow, gone or wrong about whose a call is. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ForwardClient } from '../../../src/cluster/forward/forward-client.ts';
import { proofFor } from '../../../src/cluster/forward/gateway-proof.ts';
import type { Owner } from '../../../src/cluster/forward/owners.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { freePort } from '../../helpers/ports.ts';
import { liveCall, type OthersOfTest, startServer, type TestServer } from '../test-server.ts';

const KEY = 'the key of this cluster';
const OPERATOR = { authorization: 'Bearer a-key-of-the-operator' };
const [SERVERS, OTHERS]: [TestServer[], Server[]] = [[], []];
afterEach(async () => {
  for (const { app } of SERVERS.splice(0)) await app.close();
  for (const server of OTHERS.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Another gateway of the cluster, which answers as the test says. */
async function other(answer: Answer): Promise<Owner> {
  const server = createServer(answer);
  OTHERS.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { id: 'other', address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A gateway at `address` that takes `owner` for the owner of every call that it does not have. */
async function gateway(
  owner: Owner | null,
  address = 'http://127.0.0.1',
): Promise<TestServer & { readonly client: ForwardClient }> {
  const client = new ForwardClient({ key: KEY, me: 'this', clock: systemClock });
  const others: OthersOfTest = {
    id: 'this',
    access: {
      sessions: { find: async () => null, living: async () => new Set() },
      attempts: { add: async () => new Map(), forgive: async () => undefined },
      key: KEY,
      proof: proofFor(KEY, address),
    },
    owners: { otherOwnerOf: async () => owner, others: () => (owner === null ? [] : [owner]) },
    client,
    oneUse: {
      put: async () => undefined,
      take: async () => null,
      drop: async () => undefined,
      claim: async () => true,
    },
  };
  const server = await startServer(
    { API_KEYS: 'a-key-of-the-operator' },
    undefined,
    undefined,
    null,
    null,
    undefined,
    others,
  );
  server.app.addHook('onClose', async () => client.close());
  SERVERS.push(server);
  return { ...server, client };
}

it('a gateway is told who asks and what, and none of the client’s own secrets or tricks', async () => {
  const asked: { url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const owner = await other((request, response) => {
    const { url = '', headers } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => asked.push({ url, headers, body: Buffer.concat(chunks).toString() }));
    response.writeHead(202, { 'content-type': 'application/json', 'set-cookie': 'a=b', 'x-inner': 'secret' });
    request.on('end', () => response.end('{"utterance":"u1"}'));
  });
  const { app } = await gateway(owner);
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/calls/..%2f..%2fv1%2fadmin%2fusers/say?x=%2e%2e',
    headers: { ...OPERATOR, cookie: 'trunkline_session=secret', te: 'trailers', 'x-forwarded-for': '10.0.0.1' },
    payload: { text: 'hello' },
  });
  expect([answer.statusCode, answer.json()]).toEqual([202, { utterance: 'u1' }]);
  expect([answer.headers['set-cookie'], answer.headers['x-inner']]).toEqual([undefined, undefined]);
  const [{ url, headers, body } = { url: '', headers: {}, body: '' }] = asked;
  expect([url, body]).toEqual(['/v1/calls/..%2F..%2Fv1%2Fadmin%2Fusers/say?x=%2e%2e', '{"text":"hello"}']);
  for (const name of ['authorization', 'cookie', 'te', 'x-forwarded-for', 'transfer-encoding'])
    expect([name, headers[name]]).toEqual([name, undefined]);
  expect(headers['x-trunkline-cluster-key']).toBe(proofFor(KEY, owner.address));
  expect(headers['x-trunkline-hop']).toBe('this');
  const principal = Buffer.from(String(headers['x-trunkline-principal']), 'base64url').toString();
  expect(JSON.parse(principal)).toMatchObject({ role: 'admin', agent: null });
});

it('a client that names itself a gateway is refused, and too many guesses of the key are', async () => {
  const { app } = await gateway(null);
  const ask = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url: '/v1/calls/a/hangup', headers })).json<{ error: { code: string } }>().error
      .code;
  expect(await ask({ ...OPERATOR, 'x-trunkline-hop': 'x' })).toBe('cluster_key_invalid');
  expect(await ask({ ...OPERATOR, 'x-trunkline-principal': 'x' })).toBe('cluster_key_invalid');
  const codes: string[] = [];
  for (let guess = 0; guess < 12; guess++) codes.push(await ask({ 'x-trunkline-cluster-key': `guess ${guess}` }));
  expect(codes.at(-1)).toBe('too_many_attempts');
});

it('a request goes over two gateways at most, where each takes the other for the owner', async () => {
  const port = await freePort();
  const one = await gateway({ id: 'two', address: `http://127.0.0.1:${port}` });
  const oneUrl = await one.app.listen({ host: '127.0.0.1', port: 0 });
  const two = await gateway({ id: 'one', address: oneUrl }, `http://127.0.0.1:${port}`);
  await two.app.listen({ host: '127.0.0.1', port });
  const answer = await fetch(`${oneUrl}/v1/calls/nowhere/hangup`, { method: 'POST', headers: OPERATOR });
  expect([answer.status, (await answer.json()) as object]).toMatchObject([404, { error: { code: 'call_not_found' } }]);
});

it('a gateway that is gone, or begins no answer in two seconds, is told so; stored things are shown all the same', async () => {
  const gone = await gateway({ id: 'gone', address: `http://127.0.0.1:${await freePort()}` });
  const silent = await gateway(await other(() => undefined));
  for (const { app } of [gone, silent]) {
    const command = await app.inject({ method: 'POST', url: '/v1/calls/a/hangup', headers: OPERATOR });
    expect([command.statusCode, command.json()]).toMatchObject([503, { error: { code: 'gateway_unreachable' } }]);
    const view = await app.inject({ url: '/v1/calls/a', headers: OPERATOR });
    expect([view.statusCode, view.json()]).toMatchObject([404, { error: { code: 'call_not_found' } }]);
  }
});

it('a gateway that answers with another protocol is told to be unreachable', async () => {
  const liar = await other(({ socket }) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  );
  const { app } = await gateway(liar);
  const command = await app.inject({ method: 'POST', url: '/v1/calls/a/hangup', headers: OPERATOR });
  expect([command.statusCode, command.json()]).toMatchObject([503, { error: { code: 'gateway_unreachable' } }]);
});

it('what one gateway is shown opens no other one', async () => {
  const shown: IncomingMessage['headers'][] = [];
  const liar = await other((request, response) => {
    shown.push(request.headers);
    response.end('{}');
  });
  const { app } = await gateway(liar);
  await app.inject({ method: 'POST', url: '/v1/calls/a/hangup', headers: OPERATOR });
  const [{ host: _host, ...headers } = {} as IncomingMessage['headers']] = shown;
  expect(JSON.stringify(headers)).not.toContain(KEY);
  const port = await freePort();
  const victim = await gateway(null, `http://127.0.0.1:${port}`);
  const replayed = await victim.app.inject({ method: 'POST', url: '/v1/calls/a/hangup', headers });
  expect([replayed.statusCode, replayed.json()]).toMatchObject([403, { error: { code: 'cluster_key_invalid' } }]);
});

it('a body is limited before it is passed on, whatever it says of its length', async () => {
  let isAsked = false;
  const owner = await other((_request, response) => {
    isAsked = true;
    response.end();
  });
  const { app } = await gateway(owner);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const chunks = new ReadableStream({
    start: (controller) => {
      for (let chunk = 0; chunk < 100; chunk++) controller.enqueue(new Uint8Array(1000));
      controller.close();
    },
  });
  const answer = await fetch(`${url}/v1/calls/a/say`, {
    method: 'POST',
    headers: { ...OPERATOR, 'content-type': 'application/json' },
    body: chunks,
    duplex: 'half',
  } as RequestInit);
  expect([answer.status, isAsked]).toEqual([413, false]);
});

it('sound is passed through in the parts that a player asks for, and ends with its client', async () => {
  const ranges: (string | undefined)[] = [];
  let closed: (() => void) | null = null;
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const owner = await other((request, response) => {
    ranges.push(request.headers.range);
    response.writeHead(206, { 'content-type': 'audio/wav', 'content-range': 'bytes 0-9/100', 'content-length': '10' });
    response.write('01234');
    if (request.url?.includes('untilMs')) response.once('close', () => closed?.());
    else response.end('56789');
  });
  const { app } = await gateway(owner);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { ...OPERATOR, range: 'bytes=0-9' };
  const answer = await fetch(`${url}/v1/calls/a/sound`, { headers });
  expect([answer.status, answer.headers.get('content-range'), await answer.text()]).toEqual([
    206,
    'bytes 0-9/100',
    '0123456789',
  ]);
  expect(ranges).toEqual(['bytes=0-9']);
  const leaving = new AbortController();
  await fetch(`${url}/v1/calls/a/sound?untilMs=5`, { headers, signal: leaving.signal });
  leaving.abort();
  await isClosed;
});

it('a call that is here is not asked for anywhere else', async () => {
  const { app, calls } = await gateway({ id: 'gone', address: 'http://127.0.0.1:1' });
  calls.views.push(liveCall('here'));
  expect((await app.inject({ method: 'POST', url: '/v1/calls/here/hangup', headers: OPERATOR })).statusCode).toBe(202);
});
