import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { listen, startServer, type TestServer } from '../test-server.ts';

const KEY = 'a-key-of-sixteen-letters';

let testServer: TestServer;
let url: string;
afterEach(() => testServer.app.close());

async function open(): Promise<void> {
  testServer = await startServer({ API_KEYS: KEY });
  url = await listen(testServer.app);
}

async function refuse(path: string, key = KEY): Promise<void> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, { headers: { authorization: `Token ${key}` } });
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  response.resume();
  socket.terminate();
}

const notices = () => testServer.logLines.filter((line) => line.includes('a WebSocket client was refused'));

it('the log says why a handshake was refused, once a minute for each reason, and repeats nothing of it', async () => {
  await open();
  await refuse('/v1/listen?encoding=linear16&sample_rate=8000&language=tlh');
  await refuse('/v1/listen?encoding=linear16&sample_rate=8000&language=tlh');
  expect(notices()).toHaveLength(1);
  expect(notices()[0]).toMatch(/"route":"\/v1\/listen","code":"unsupported_language","parameter":"language"/);
  expect(notices()[0]).not.toContain('tlh');
  await refuse('/v1/listen?encoding=linear16&sample_rate=8000', 'wrong-and-secret');
  expect(notices()).toEqual([expect.anything(), expect.stringContaining('"code":"invalid_api_key"')]);
  expect(testServer.logLines.join('\n')).not.toContain('wrong-and-secret');
  testServer.clock.advance(60_000);
  await refuse('/v1/listen?encoding=linear16&sample_rate=8000&language=tlh');
  expect(notices()).toHaveLength(3);
});

it('and nothing of paths that there are not, which strangers try', async () => {
  await open();
  await refuse('/v1/nothing');
  expect(notices()).toEqual([]);
});
