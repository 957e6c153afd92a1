import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { connectionsThatFit } from '../../../src/http/server/connections.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../test-server.ts';

const MAX = 10;

let testServer: TestServer;
let url: string;
const clients: (Socket | WebSocket)[] = [];

beforeEach(async () => {
  testServer = await startServer({ CONNECTIONS_MAX: String(MAX), FEED_READERS_MAX: String(MAX + 1) });
  url = await listen(testServer.app);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client instanceof WebSocket ? client.terminate() : client.destroy();
  await testServer.app.close();
});

/** The value of a sample of the metrics page. */
async function sample(name: string): Promise<number> {
  const line = (await testServer.metrics.registry.metrics()).split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}
const open = () => sample('trunkline_http_connections');
const closed = (reason: string) => sample(`trunkline_http_connections_closed_total{reason="${reason}"}`);

/** A connection that has sent `bytes`, once the server has it. */
async function idler(bytes = ''): Promise<Socket & { isGone?: true }> {
  const before = await open();
  const socket: Socket & { isGone?: true } = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined).on('close', () => Object.assign(socket, { isGone: true }));
  clients.push(socket);
  socket.write(bytes);
  await eventually(async () => expect(await open()).toBe(Math.min(before + 1, MAX)));
  return socket;
}

/** A reader of the feed, by WebSocket. */
async function reader(): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/captions`);
  clients.push(socket);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return socket;
}

async function repeat<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index++) made.push(await make());
  return made;
}

describe('connections that say nothing', () => {
  it('give way to a carrier, the one that has been silent longest first', async () => {
    const idlers = await repeat(MAX, idler);
    expect(await upgradeStatus(`${url}/twilio/media`)).toBe(101);
    await eventually(() =>
      expect(idlers.map(({ isGone = false }) => isGone)).toEqual([true, ...Array(MAX - 1).fill(false)]),
    );
    expect([await closed('idle'), await closed('refused')]).toEqual([1, 0]);
  });

  it.each([
    ['a head that never ends', 'GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: '],
    [
      'a body that never ends',
      'POST /twilio/voice HTTP/1.1\r\nHost: a\r\nContent-Type: ' +
        'application/x-www-form-urlencoded\r\nContent-Length: 60\r\n\r\nCallSid=',
    ],
    ['a request that was answered', 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('may have said something: %s', async (_what, bytes) => {
    await repeat(MAX, () => idler(bytes));
    expect(await upgradeStatus(`${url}/twilio/media`)).toBe(101);
    expect(await closed('idle')).toBe(1);
  });
});

/** Answered with more than the system's buffers hold. */
const UNREAD_REQUESTS = 1500;

it('connections of strangers who read no answer give way to others, whatever they asked for', async () => {
  const from = (first: string, more = '') => `${first} HTTP/1.1\r\nHost: bridge.example.com\r\n${more}\r\n`;
  const upload = from('POST /v1/audio/transcriptions', 'Content-Length: 0\r\n');
  const requests = from('GET /page.js') + from('GET /x') + from('GET /v1/calls') + upload;
  const sockets: Socket[] = [];
  testServer.app.server.on('connection', (socket) => sockets.push(socket));
  await repeat(MAX, () => idler(requests.repeat(UNREAD_REQUESTS)));
  await eventually(() => expect(sockets.filter(({ writableLength }) => writableLength > 0).length).toBe(MAX));
  expect(await upgradeStatus(`${url}/twilio/media`)).toBe(101);
  expect([await closed('idle'), await closed('refused')]).toEqual([1, 0]);
});

describe('connections that are in use', () => {
  it('are left alone, and a new one is refused, counted and told of once', async () => {
    const readers = await repeat(MAX, reader);
    for (let index = 0; index < 3; index++) await expect(fetch(`${url}/health`)).rejects.toThrow();
    expect(readers.map(({ readyState }) => readyState)).toEqual(Array(MAX).fill(WebSocket.OPEN));
    expect([await closed('idle'), await closed('refused')]).toEqual([0, 3]);
    expect(testServer.logLines.filter((line) => line.includes('CONNECTIONS_MAX')).length).toBe(1);
    readers[0]?.terminate();
    await eventually(async () => expect(await open()).toBe(MAX - 1));
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it('are those that send a recording or wait for an answer, too', async () => {
    await repeat(MAX - 2, reader);
    const upload = await idler(
      'POST /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; ' +
        'boundary=b\r\nContent-Length: 900\r\n\r\n--b\r\n',
    );
    const events = await fetch(`${url}/v1/captions`);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    expect(upload.isGone).toBeUndefined();
    await events.body?.cancel();
    await eventually(async () => expect((await fetch(`${url}/health`)).status).toBe(200));
  });

  it('are idle again when their answers are out', async () => {
    await repeat(MAX - 1, reader);
    for (let index = 0; index < 3; index++) expect((await fetch(`${url}/health`)).status).toBe(200);
    expect(await upgradeStatus(`${url}/twilio/media`)).toBe(101);
  });
});

it('connections are no more than half of the file descriptors', () => {
  expect(connectionsThatFit(1000, { open: 30, max: 1024 })).toBe(512);
  expect(connectionsThatFit(1000, { open: 30, max: 65_536 })).toBe(1000);
  expect(connectionsThatFit(1000, null)).toBe(1000);
});
