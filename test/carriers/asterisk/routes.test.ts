import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';

const LOCKED = { ASTERISK_USER: 'pbx', ASTERISK_PASSWORD: 'a:b c' };
/**
 * A proxy on this machine would be several clients in one, of whom those with the right password are never shut out.
 */
const NO_PROXY_HERE = { TRUSTED_PROXIES: '192.0.2.1' };

let testServer: TestServer;
afterEach(() => testServer.app.close());

const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });

async function dial(
  environment: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  testServer = await startServer(environment);
  return upgradeStatus(`${await listen(testServer.app)}/asterisk/media`, headers);
}

describe('WS /asterisk/media', () => {
  it('hands the socket over to an Asterisk of this machine, which vouches for nothing without a password', async () => {
    expect(await dial({})).toBe(101);
    expect(testServer.calls.accepted).toMatchObject([{ trusted: false }]);
  });

  it('passes on which flow is to talk to the caller', async () => {
    testServer = await startServer();
    await upgradeStatus(`${await listen(testServer.app)}/asterisk/media?flow=shop`);
    expect(testServer.calls.accepted).toMatchObject([{ flow: 'shop' }]);
  });

  it('takes the subprotocol that Asterisk offers', async () => {
    testServer = await startServer();
    const socket = new WebSocket(`${(await listen(testServer.app)).replace('http', 'ws')}/asterisk/media`, 'media');
    await once(socket, 'open');
    expect(socket.protocol).toBe('media');
    socket.terminate();
  });

  it('hands the socket over to whoever has the password, from anywhere', async () => {
    const headers = { ...basic('pbx:a:b c'), host: 'bridge.example.com' };
    expect(await dial(LOCKED, headers)).toBe(101);
    expect(testServer.calls.accepted).toMatchObject([{ trusted: true }]);
  });

  it.each([
    ['no credentials', {}],
    ['another password', basic('pbx:guess')],
    ['another user', basic('root:a:b c')],
    ['a key', { authorization: 'Bearer a:b c' }],
    ['a header that is no Base64', { authorization: 'Basic ???' }],
  ])('stays closed to %s, even on this machine and for everybody', async (_what, headers) => {
    expect(await dial({ ...LOCKED, ALLOW_ANONYMOUS: 'true' }, headers)).toBe(401);
    expect(testServer.calls.accepted).toEqual([]);
  });

  it('stops looking at passwords after ten wrong ones, and does not count calls without one', async () => {
    expect(await dial({ ...LOCKED, ...NO_PROXY_HERE })).toBe(401);
    const { port } = testServer.app.server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/asterisk/media`;
    for (let n = 0; n < 10; n++) expect(await upgradeStatus(url, basic(`pbx:${n}`))).toBe(401);
    expect(await upgradeStatus(url, basic('pbx:a:b c'))).toBe(429);
  });

  it('stays closed to another machine while there is no password', async () => {
    expect(await dial({}, { host: 'bridge.example.com' })).toBe(403);
  });

  it('refuses when no call can be taken', async () => {
    testServer = await startServer();
    testServer.calls.refusal = new TrunklineError('too_many_calls', 'full');
    expect(await upgradeStatus(`${await listen(testServer.app)}/asterisk/media`)).toBe(503);
  });

  it('is for WebSockets alone', async () => {
    testServer = await startServer();
    expect((await testServer.app.inject({ url: '/asterisk/media' })).statusCode).toBe(400);
  });
});
