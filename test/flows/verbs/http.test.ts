/** The step `http`: what is asked, how it is signed, and what is taken of the answer. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { FlowAnswer, FlowRequest } from '../../../src/flows/verbs/flow-world.ts';
import { signWebhook } from '../../../src/foundation/webhooks/sign-webhook.ts';
import { eventually } from '../../helpers/eventually.ts';
import { FlowCall } from '../run/flow-call.ts';

const AFTER = `
  done: {say: "{status}|{count}|{known}|{none}"}
  sorry: {say: "sorry"}`;

const NEVER_SET = 'status: null, count: null, known: null, none: null, never: null';

/** A flow that asks with `fields`, and says what it has taken. */
const flow = (fields: string, variables = '') =>
  `start: ask\nvariables: {${NEVER_SET}${variables}}\nsteps:\n  ask: {http: {${fields}}, next: done}${AFTER}`;

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/** Asks a world that answers so. */
async function ask(
  fields: string,
  answer: Partial<FlowAnswer> | Error = {},
  variables?: string,
): Promise<{ asked: FlowRequest[]; said: string[]; call: FlowCall }> {
  const asked: FlowRequest[] = [];
  const request = async (made: FlowRequest): Promise<FlowAnswer> => {
    asked.push(made);
    if (answer instanceof Error) throw answer;
    return { status: 200, body: '{}', ...answer };
  };
  const call = await new FlowCall(flow(fields, variables), { world: { request } }).hear();
  return { asked, said: call.said, call };
}

const TAKE = `take: {status: "$.order.status", count: "$.order.count", known: "$.known", none: "$.no"}`;

describe('a request', () => {
  it('has the values of variables, escaped where they stand in a URL', async () => {
    const { asked } = await ask(
      'url: "https://shop.example.com/orders/{order}?x={order}", query: {who: "{name}", n: 7, no: "{never}"}, ' +
        'headers: {X-Who: "{name}"}',
      {},
      ', order: "a/b ?#1", name: "Zoë & Co"',
    );
    expect(asked).toEqual([
      {
        url: 'https://shop.example.com/orders/a%2Fb%20%3F%231?x=a%2Fb+%3F%231&who=Zo%C3%AB+%26+Co&n=7',
        method: 'GET',
        headers: { 'x-who': 'Zoë & Co' },
        body: null,
      },
    ]);
  });

  it('may begin with a variable that is an address', async () => {
    const { asked } = await ask('url: "{shop}/orders"', {}, ', shop: "https://shop.example.com"');
    expect(asked[0]?.url).toBe('https://shop.example.com/orders');
  });

  it('with a body is a POST of JSON, in which values keep their types', async () => {
    const { asked } = await ask(
      'url: "https://shop.example.com", body: {n: "{n}", text: "no. {n}", quote: "{quote}", yes: true}',
      {},
      `, n: 7, quote: 'a"b'`,
    );
    expect(asked[0]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ n: 7, text: 'no. 7', quote: 'a"b', yes: true });
  });

  it.each([
    ['a URL that is none', 'url: "{never}x"', ''],
    [
      'a header that ends its line',
      'url: "https://a.example.com", headers: {X-A: "{evil}"}',
      ', evil: "a\\r\\nX-B: 1"',
    ],
    ["a header that is the connection's", 'url: "https://a.example.com", headers: {Host: b}', ''],
  ])('with %s is not made', async (_, fields, variables) => {
    const { asked, said } = await ask(`${fields}, failed: sorry`, {}, variables);
    expect([asked, said]).toEqual([[], ['sorry']]);
  });
});

describe('a flow', () => {
  it('whose JSON path cannot be read is refused', () => {
    expect(() => new FlowCall(flow('url: "https://a.example.com", take: {a: "$..a"}'))).toThrow(/take.*JSON path/);
  });
});

describe('an answer', () => {
  it('gives what its paths name', async () => {
    const body = JSON.stringify({ order: { status: 'shipped', count: 3 }, known: true });
    const { said } = await ask(`url: "https://a.example.com", ${TAKE}`, { body });
    expect(said).toEqual(['shipped|3|yes|']);
  });

  it.each(['..', '.', '', '\\ud800/..', '%2e%2e'])('never has another path, whatever a value is: %j', async (order) => {
    const written = JSON.stringify(order);
    const url = 'https://shop.example.com/orders/{order}/status';
    const { asked, said } = await ask(`url: "${url}", failed: sorry`, {}, `, order: ${written}`);
    const paths = asked.map((request) => new URL(request.url).pathname);
    if (order.length > 2) expect(paths).toEqual([`/orders/${encodeURIComponent(order.toWellFormed())}/status`]);
    else expect([paths, said]).toEqual([[], ['sorry']]);
  });

  it('may end with nothing', async () => {
    const { asked } = await ask('url: "https://a.example.com/orders/{order}"', {}, ', order: ""');
    expect(asked).toMatchObject([{ url: 'https://a.example.com/orders/' }]);
    const climbing = await ask('url: "https://a.example.com/orders/{order}", failed: sorry', {}, ', order: "."');
    expect(climbing.said).toEqual(['sorry']);
  });

  it('has no other path where values and what is written are dots together', async () => {
    for (const url of ['https://a.example.com/a/.{order}/b', 'https://a.example.com/a/{order}%2e/b'])
      expect((await ask(`url: "${url}", failed: sorry`, {}, ', order: "."')).said).toEqual(['sorry']);
  });

  it.each([
    ['a status of failure', { status: 404 }],
    ['a redirect', { status: 302 }],
    ['no JSON', { body: 'oops' }],
    ['an object where a value is expected', { body: '{"known": {}}' }],
    ['no answer', new Error('no')],
  ])('with %s leads to `failed`, and the log says why', async (_, answer) => {
    const { said, call } = await ask(`url: "https://a.example.com/secret", ${TAKE}, failed: sorry`, answer);
    expect(said).toEqual(['sorry']);
    expect(call.logLines.join('')).toMatch(/the server|the answer/);
    expect(call.logLines.join('')).not.toContain('secret');
  });

  it('that comes too late leads to `failed`', async () => {
    const request = (_: FlowRequest, signal: AbortSignal): Promise<FlowAnswer> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const call = new FlowCall(flow('url: "https://a.example.com", timeoutMs: 2000, failed: sorry'), {
      world: { request },
    });
    await call.wait(1900);
    expect(call.said).toEqual([]);
    await call.wait(200);
    expect(call.said).toEqual(['sorry']);
  });

  it('is waited for while something is said', async () => {
    let answer: (answer: FlowAnswer) => void = () => undefined;
    const request = () => new Promise<FlowAnswer>((resolve) => (answer = resolve));
    const call = await new FlowCall(flow('url: "https://a.example.com", waiting: "One moment."'), {
      world: { request },
    }).hear();
    expect(call.said).toEqual(['One moment.']);
    answer({ status: 200, body: '{}' });
    await call.hear();
    expect(call.said).toHaveLength(2);
  });
});

describe('over the network', () => {
  const KEY = 'a key of flows';
  const OPEN = { OUTBOUND_ALLOW: 'flows=127.0.0.0/8', FLOW_SIGNING_KEY: KEY };

  async function listen(got: { headers: IncomingHttpHeaders; body: string }[]): Promise<string> {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      got.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.end('{"order": {"status": "shipped"}}');
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
  }

  it('a request is signed as webhooks are', async () => {
    const got: { headers: IncomingHttpHeaders; body: string }[] = [];
    const url = await listen(got);
    const call = new FlowCall(flow(`url: "${url}", body: {n: 1}, ${TAKE}`), { environment: OPEN });
    await eventually(() => expect(call.said).toHaveLength(1));
    expect(call.said[0]).toMatch(/^shipped/);
    const [{ headers, body } = { headers: {} as IncomingHttpHeaders, body: '' }] = got;
    const signature = signWebhook({
      id: String(headers['webhook-id']),
      timestamp: String(headers['webhook-timestamp']),
      body,
      secret: KEY,
    });
    expect(headers['webhook-signature']).toBe(signature);
  });

  it('a private address is refused unless it is allowed', async () => {
    const got: { headers: IncomingHttpHeaders; body: string }[] = [];
    const url = await listen(got);
    const call = new FlowCall(flow(`url: "${url}", failed: sorry`));
    await eventually(() => expect(call.said).toEqual(['sorry']));
    expect(got).toEqual([]);
    expect(call.logLines.join('')).toContain('OUTBOUND_ALLOW');
  });

  it('a server that refuses connections is asked again', async () => {
    const got: { headers: IncomingHttpHeaders; body: string }[] = [];
    const url = await listen(got);
    const { port } = new URL(url);
    await new Promise((resolve) => server?.close(resolve));
    const call = new FlowCall(flow(`url: "${url}", ${TAKE}`), { environment: OPEN });
    // The first attempt has failed when a pause is waited for beside the limits of the request and of the flow.
    await eventually(() => expect(call.clock.pending).toBe(3));
    server = createServer((_request, response) => void response.end('{"order": {"status": "shipped"}}'));
    await new Promise<void>((resolve) => server?.listen(Number(port), '127.0.0.1', resolve));
    await call.wait(300);
    await eventually(() => expect(call.said).toHaveLength(1));
    expect(call.said[0]).toMatch(/^shipped/);
  });
});
