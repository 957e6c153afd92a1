import { createServer, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PrivateAddressError } from '../../src/foundation/addresses.ts';
import { guardedFetch } from '../../src/foundation/guarded-fetch.ts';

/** To its resolver `public.example` is a public name; the server behind it is the test's. All else is as it is. */
vi.mock('../../src/foundation/addresses.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../src/foundation/addresses.ts')>();
  const lookupPublic: LookupFunction = (hostname, options, done) => {
    if (hostname !== 'public.example') return real.lookupPublic(hostname, options, done);
    if (options.all === true) return done(null, [{ address: '127.0.0.1', family: 4 }]);
    return done(null, '127.0.0.1', 4);
  };
  return { ...real, lookupPublic };
});

let server: Server;
let asked: string[];
let location: string;

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(`${request.headers.host?.split(':')[0]}${request.url}`);
    if (request.url === '/moved') response.writeHead(302, { location }).end();
    else response.end('secret');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const port = () => (server.address() as AddressInfo).port;

async function ask(path: string, redirectsMax?: number) {
  const url = `http://public.example:${port()}${path}`;
  const signal = new AbortController().signal;
  const { response } = await guardedFetch({
    url,
    allowPrivate: false,
    signal,
    ...(redirectsMax === undefined ? {} : { redirectsMax }),
  });
  return response;
}

describe('a public server', () => {
  it('is asked, and may send on to a public one', async () => {
    location = '/here';
    const response = await ask('/moved');
    response.destroy();
    expect([response.statusCode, asked]).toEqual([200, ['public.example/moved', 'public.example/here']]);
  });

  it.each(['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', '[::1]', 'localhost', '169.254.169.254'])(
    'cannot send on to %s',
    async (host) => {
      location = `http://${host}:${port()}/secret`;
      await expect(ask('/moved')).rejects.toBeInstanceOf(PrivateAddressError);
      expect(asked).toEqual(['public.example/moved']);
    },
  );

  it('cannot send on at all where no redirect is wanted', async () => {
    location = `http://127.0.0.1:${port()}/secret`;
    const response = await ask('/moved', 0);
    response.destroy();
    expect([response.statusCode, asked]).toEqual([302, ['public.example/moved']]);
  });
});
