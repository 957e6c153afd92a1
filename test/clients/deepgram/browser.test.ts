import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';

const KEY = 'browser-key-of-32-characters-000';
/** What a browser says of a page that is not ours. */
const headers = { origin: 'https://elsewhere.example' };

let testServer: TestServer;
afterEach(() => testServer.app.close());

it.each(['/v1/listen', '/v2/listen', '/v1/speak'])('a page of any site that has a key opens %s', async (path) => {
  testServer = await startServer({ API_KEYS: KEY });
  const url = `${(await listen(testServer.app)).replace(/^http/, 'ws')}${path}?encoding=linear16&sample_rate=16000`;
  const socket = new WebSocket(url, ['token', KEY], { headers });
  await once(socket, 'open');
  expect(socket.protocol).toBe('token');
  socket.terminate();
  const without = new WebSocket(url, { headers });
  const [request, response] = await once(without, 'unexpected-response');
  expect(response.statusCode).toBe(403);
  request.destroy();
});
