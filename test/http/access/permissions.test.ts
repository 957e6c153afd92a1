import { afterEach, describe, expect, it } from 'vitest';
import { entryFor, maskNumber, permissionsOf, sees, viewFor } from '../../../src/http/access/permissions.ts';
import type { Principal } from '../../../src/http/access/principal.ts';
import { liveCall, startServer, type TestServer } from '../test-server.ts';

const principal = (role: Principal['role'], agent: string | null = null): Principal => ({
  name: 'ann',
  role,
  agent,
  tenant: 't',
});

describe('who sees a call', () => {
  it('is everybody but agents, who see theirs', () => {
    expect(sees(principal('admin'), { agent: 'bob' })).toBe(true);
    expect(sees(principal('supervisor'), {})).toBe(true);
    expect(sees(principal('app'), { agent: null })).toBe(true);
    expect(sees(principal('agent', 'ann'), { agent: 'ann' })).toBe(true);
    expect(sees(principal('agent', 'ann'), { agent: 'Ann' })).toBe(false);
    expect(sees(principal('agent', 'ann'), { agent: 'bob' })).toBe(false);
    expect(sees(principal('agent', 'ann'), {})).toBe(false);
  });

  it('is no agent without a name, whatever the call says', () => {
    expect(sees(principal('agent'), { agent: null })).toBe(false);
    expect(sees(principal('agent'), {})).toBe(false);
    expect(sees(principal('agent', ''), { agent: '' })).toBe(false);
  });
});

describe('a number', () => {
  it.each([
    ['+14155550123', '+••••••••123'],
    ['+1 (415) 555-0123', '+• (•••) •••-•123'],
    ['sip:+14155550123@10.0.0.1:5060', 'sip:+••••••••123@10.0.0.1:5060'],
    ['1001', '•001'],
    ['100', '100'],
    ['alice', 'alice'],
    ['', ''],
    [null, null],
  ])('%s is %s for agents', (party, masked) => {
    expect(maskNumber(party)).toBe(masked);
  });

  it('is whole for everybody else, in lists and in the feed', () => {
    const names = { inbound: 'Ada', outbound: 'Desk 12' };
    const view = { from: '+14155550123', to: null, names };
    expect(viewFor(principal('supervisor'), view)).toBe(view);
    expect(viewFor(principal('agent', 'ann'), view)).toEqual({ from: '+••••••••123', to: null, names });
    const event = {
      type: 'call.started',
      callId: 'CA1',
      carrier: 'twilio',
      from: '+14155550123',
      to: null,
      startedAt: '2026-01-01T00:00:00.000Z',
      tracks: [],
      names: { inbound: '+14155550123', outbound: null },
    } as unknown as Parameters<typeof entryFor>[1]['event'];
    const entry = { id: 'e-1', event, json: JSON.stringify(event) };
    expect(entryFor(principal('admin'), entry)).toBe(entry);
    const masked = entryFor(principal('agent', 'ann'), entry);
    expect(masked.json).toContain('+••••••••123');
    expect(masked.json).not.toContain('14155550');
    expect(JSON.parse(masked.json)).toEqual(masked.event);
  });

  it('is masked for agents where a call goes on with somebody else', () => {
    const parties = { from: '+14155550122', to: '+14155550123', kind: 'blind' } as const;
    const event = { type: 'call.transferred', callId: 'c', by: 'refer', ...parties, atMs: 1 } as const;
    const entry = { id: 'e-1', event, json: JSON.stringify(event) };
    expect(entryFor(principal('agent', 'ann'), entry).json).toContain('"to":"+••••••••123"');
    expect(entryFor(principal('supervisor'), entry)).toBe(entry);
  });
});

let testServer: TestServer;
afterEach(() => testServer?.app.close());

interface Described {
  readonly paths: Record<string, Record<string, { 'x-permission'?: string; 'x-roles'?: string[] }>>;
}

/** Routes that ask for another secret, or for none. */
const OPEN = [
  'delete /v1/session',
  'get /health',
  'get /ready',
  'post /v1/session',
  /^\w+ \/(?:asterisk|exotel|freeswitch|genesys|plivo|signalwire|telnyx|twilio|vonage)\//,
];

describe('each route', () => {
  it('says who may use it; one without a permission is for admins alone, and fails here', async () => {
    testServer = await startServer();
    const { paths } = (await testServer.app.inject('/docs/json')).json<Described>();
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => [`${method} ${path}`, route['x-permission']] as const),
    );
    const isOpen = (route: string) => OPEN.some((open) => (open instanceof RegExp ? open.test(route) : open === route));
    const unsaid = routes.filter(
      ([route, permission]) =>
        !isOpen(route) &&
        (permission === undefined || (permission === 'administration' && !route.includes(' /v1/admin/'))),
    );
    expect(unsaid).toEqual([]);
    expect(routes.filter(([route, permission]) => isOpen(route) && permission !== undefined)).toEqual([]);
  });

  it('is open to the roles of its permission', () => {
    expect(permissionsOf('agent')).toEqual([
      'session',
      'docs',
      'calls.read',
      'calls.listen',
      'calls.act',
      'calls.note',
      'models',
    ]);
    expect(permissionsOf('admin')).toEqual(expect.arrayContaining(['administration', 'audit']));
    for (const role of ['supervisor', 'app'] as const) {
      expect(permissionsOf(role)).not.toContain('administration');
      expect(permissionsOf(role)).not.toContain('audit');
    }
  });
});

describe('a keyless server', () => {
  it('shows whoever is on this machine everything', async () => {
    testServer = await startServer();
    testServer.calls.views.push(liveCall('CA1'));
    expect((await testServer.app.inject('/v1/calls/CA1')).json()).toMatchObject({ from: '+14155550100' });
  });
});
