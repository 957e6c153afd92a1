import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrivateAddressError } from '../../src/foundation/addresses.ts';
import { guardedFetch } from '../../src/foundation/guarded-fetch.ts';
import { namedTargets, operatorTargets, parseOutboundEntry } from '../../src/foundation/outbound-targets.ts';

const ENTRIES = ['10.0.0.0/8', 'apps=192.168.7.0/24', 'batches=fd00::/8', 'calls=crm.local', 'shop.local'];

describe('an entry of OUTBOUND_ALLOW', () => {
  it.each([
    ['10.0.0.0/8', { purpose: null, target: '10.0.0.0/8' }],
    ['flows = fd00::/8', { purpose: 'flows', target: 'fd00::/8' }],
    ['calls=CRM.local', { purpose: 'calls', target: 'crm.local' }],
    ['localhost', { purpose: null, target: 'localhost' }],
    ['flows=http://x', null],
    ['flow=10.0.0.0/8', null],
    ['flows=', null],
    ['a b', null],
    ['10.0.0.0/40', null],
  ])('%s is read', (text, entry) => {
    expect(parseOutboundEntry(text)).toEqual(entry);
  });
});

describe('what may be reached besides the public internet', () => {
  function mayReach(targets: ReturnType<typeof operatorTargets>, hostname: string): boolean {
    try {
      targets.check(hostname);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(PrivateAddressError);
      return false;
    }
  }

  it('is for what operators wrote all without a purpose, and that of the purpose', () => {
    const targets = operatorTargets(ENTRIES, 'apps');
    expect(['10.1.2.3', '192.168.7.9', '8.8.8.8'].map((host) => mayReach(targets, host))).toEqual([true, true, true]);
    expect(['192.168.8.1', '[fd00::1]', '127.0.0.1'].map((host) => mayReach(targets, host))).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('is for what others name only that of the purpose', () => {
    expect(mayReach(namedTargets(ENTRIES, 'batches'), '10.1.2.3')).toBe(false);
    expect(mayReach(namedTargets(ENTRIES, 'batches'), '[fd00::1]')).toBe(true);
    expect(mayReach(namedTargets(ENTRIES, 'apps'), '10.1.2.3')).toBe(false);
    expect(mayReach(namedTargets(['0.0.0.0/0', '::/0'], 'batches'), '169.254.169.254')).toBe(false);
  });
});

describe('a guarded request', () => {
  const server = createServer((_, response) => response.end('here'));
  let port = 0;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => server.close());

  async function fetched(url: string, allowPrivate: ReturnType<typeof operatorTargets>): Promise<number | string> {
    try {
      const { response } = await guardedFetch({ url, allowPrivate, signal: AbortSignal.timeout(5000) });
      response.destroy();
      return response.statusCode ?? 0;
    } catch (error) {
      return error instanceof PrivateAddressError ? 'private' : String(error);
    }
  }

  it('reaches what is named, by address and by name, and nothing else', async () => {
    const at = (host: string): string => `http://${host}:${port}/`;
    expect(await fetched(at('127.0.0.1'), operatorTargets([], 'calls'))).toBe('private');
    expect(await fetched(at('localhost'), operatorTargets(['10.0.0.0/8'], 'calls'))).toBe('private');
    expect(await fetched(at('127.0.0.1'), operatorTargets(['127.0.0.0/8'], 'calls'))).toBe(200);
    expect(await fetched(at('localhost'), operatorTargets(['localhost'], 'calls'))).toBe(200);
    expect(await fetched(at('localhost'), namedTargets(['localhost'], 'calls'))).toBe('private');
    // A name that is allowed does not open its address.
    expect(await fetched(at('127.0.0.1'), operatorTargets(['localhost'], 'calls'))).toBe('private');
  });
});
