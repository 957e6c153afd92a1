import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { lookupPublic, PrivateAddressError } from '../../src/foundation/addresses.ts';
import { guardedFetch } from '../../src/foundation/guarded-fetch.ts';

/** What the resolver answers, one after the other; the last for ever. */
let answers: string[][] = [];
let asked = 0;

vi.mock('node:dns', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:dns')>();
  type Done = (error: null, addresses: { address: string; family: number }[]) => void;
  const lookup = (_name: string, _options: object, done: Done): void => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    done(
      null,
      answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { ...real, lookup };
});

let server: Server;
let requests: number;
beforeEach(async () => {
  asked = 0;
  requests = 0;
  server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(302, { location: '/again' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => void server.close());

async function ask(): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const signal = AbortSignal.timeout(300);
  return guardedFetch({ url: `http://rebind.example:${port}/`, allowPrivate: false, signal }).catch(
    (error: unknown) => error,
  );
}

it.each([
  ['private among public ones', ['8.8.8.8', '127.0.0.1']],
  ['private', ['127.0.0.1']],
  ['a private IPv4 address written as IPv6', ['::ffff:127.0.0.1']],
])('a name whose address is %s leads nowhere', async (_what, answer) => {
  answers = [answer];
  expect(await ask()).toBeInstanceOf(PrivateAddressError);
  expect([asked, requests]).toEqual([1, 0]);
});

it('a name that changes after it was checked leads to what was checked, and the next request checks again', async () => {
  answers = [['8.8.8.8'], ['127.0.0.1']];
  const resolved = await new Promise((done) =>
    lookupPublic('rebind.example', { all: true }, (_error, addresses) => done(addresses)),
  );
  // What the socket gets; nobody asks the resolver for it again.
  expect([resolved, asked]).toEqual([[{ address: '8.8.8.8', family: 4 }], 1]);
  expect(await ask()).toBeInstanceOf(PrivateAddressError);
  expect([asked, requests]).toEqual([2, 0]);
});
