import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { testApp } from '../../../src/calls/app/app-test.ts';
import { AppReachability } from '../../../src/calls/app/reachability.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { FakeClock } from '../../fakes/clock.ts';

const servers: WebSocketServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function appAt(options: ConstructorParameters<typeof WebSocketServer>[0] = {}): Promise<string> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...options });
  servers.push(server);
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/app?token=secret`;
}

function tester(environment: Record<string, string>) {
  const reachability = new AppReachability(systemClock);
  const test = () => testApp({ settings: readSettings(environment), reachability, clock: systemClock });
  return { reachability, test };
}

describe('a test of the app', () => {
  it('is null where no app is set', async () => {
    expect(await tester({}).test()).toBeNull();
  });

  it('opens one connection, begins no session, and notes that it was reached', async () => {
    const url = await appAt();
    const messages: string[] = [];
    const closed = new Promise<number>((resolve) => {
      servers[0]?.on('connection', (socket) => {
        socket.on('message', (data) => messages.push(String(data)));
        socket.on('close', resolve);
      });
    });
    const { test, reachability } = tester({ APP_URL: url });
    expect(await test()).toMatchObject({ reachable: true });
    expect([await closed, messages]).toEqual([1000, []]);
    expect(reachability.list()).toMatchObject([{ app: url.split('?')[0], trouble: null }]);
  });

  it('says what is wrong, and counts how often since when', async () => {
    const url = await appAt();
    servers.splice(0)[0]?.close();
    const { test, reachability } = tester({ APP_URL: url });
    expect(await test()).toMatchObject({ reachable: false, detail: 'ECONNREFUSED' });
    await test();
    expect(reachability.list()).toMatchObject([{ reachedAt: null, trouble: { reason: 'ECONNREFUSED', count: 2 } }]);
  });

  it('says with what status an app refuses', async () => {
    const url = await appAt({ verifyClient: () => false });
    expect(await tester({ APP_URL: url }).test()).toMatchObject({
      reachable: false,
      detail: expect.stringContaining('answers 401'),
    });
  });

  it('asks a webhook by GET', async () => {
    const url = (await appAt()).replace('ws:', 'http:');
    const { test } = tester({ APP_TWIML_URL: url, OUTBOUND_ALLOW: 'apps=127.0.0.0/8' });
    expect(await test()).toMatchObject({ reachable: true, detail: 'it answers a GET with 426' });
  });
});

describe('what is known of apps', () => {
  it('forgets the trouble when the app is reached, and the oldest of many apps', () => {
    const clock = new FakeClock();
    const reachability = new AppReachability(clock);
    reachability.note('ws://a/', 'refused', 'ECONNREFUSED');
    reachability.note('ws://a/', 'connected', null);
    expect(reachability.list()).toEqual([{ app: 'ws://a', reachedAt: clock.wall(), trouble: null }]);
    for (let n = 0; n < 30; n++) reachability.note(`ws://app-${n}/`, 'lost', 'closed with 1006');
    expect(reachability.list()).toHaveLength(20);
    expect(reachability.list()[0]?.app).toBe('ws://app-29');
  });
});
