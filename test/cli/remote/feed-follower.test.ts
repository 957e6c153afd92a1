import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { followFeed } from '../../../src/cli/remote/feed-follower.ts';
import { ServerClient } from '../../../src/cli/server-client.ts';
import { systemClock } from '../../../src/foundation/clock.ts';

let feed: WebSocketServer;
let server: ServerClient;
beforeEach(async () => {
  feed = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(feed, 'listening');
  server = new ServerClient({ url: `http://127.0.0.1:${(feed.address() as AddressInfo).port}`, key: 'a key' });
});
afterEach(() => feed.close());

it('a feed that breaks is opened again behind the last event, with the key', async () => {
  const stop = new AbortController();
  const asked: (string | undefined)[] = [];
  const got: string[] = [];
  let losses = 0;
  feed.on('connection', (socket, request) => {
    asked.push(request.url);
    expect(request.headers.authorization).toBe('Bearer a key');
    socket.send(JSON.stringify({ id: `e-${asked.length}`, type: 'dtmf', callId: 'a', digit: '1', atMs: 1 }));
    if (asked.length === 2) socket.send(JSON.stringify({ id: 'e-2', type: 'events.missing', after: 'e-2' }));
    if (asked.length === 1) socket.close(1012);
  });
  await followFeed(server, {
    callId: 'a',
    clock: systemClock,
    signal: stop.signal,
    onEvent: ({ id }) => {
      got.push(id);
    },
    onMissing: () => {
      got.push('missing');
      stop.abort();
    },
    onLost: () => {
      losses += 1;
    },
  });
  expect([got, losses]).toEqual([['e-1', 'e-2', 'missing'], 1]);
  expect(asked).toEqual(['/v1/captions?ids=true&call=a&after=start', '/v1/captions?ids=true&call=a&after=e-1']);
});

it('a feed that is refused ends it with the words of the server', async () => {
  feed.options.verifyClient = (_info: unknown, answer: (ok: boolean, code: number, message: string) => void) =>
    answer(false, 403, JSON.stringify({ error: { code: 'role_refused', message: 'not for you' } }));
  const options = { callId: undefined, clock: systemClock, signal: AbortSignal.timeout(60_000) };
  const nothing = (): void => undefined;
  await expect(
    followFeed(server, { ...options, onEvent: nothing, onMissing: nothing, onLost: nothing }),
  ).rejects.toMatchObject({
    message: 'not for you (role_refused)',
    status: 403,
  });
});
