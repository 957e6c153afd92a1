import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { RecordsDatabase } from '../../../src/records/records-database.ts';
import { DATABASES } from '../../records/databases.ts';
import { listen, startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;
let url: string;
afterEach(() => testServer.app.close());

async function open(environment: Record<string, string> = {}, database: RecordsDatabase | null = null): Promise<void> {
  testServer = await startServer(environment, undefined, undefined, null, database);
  url = await listen(testServer.app);
}

const say = (callId: string, digit = '5') => testServer.feed.publish({ type: 'dtmf', callId, digit, atMs: 4100 });
const said = (callId: string, digit = '5') => ({ type: 'dtmf', callId, digit, atMs: 4100 });

describe('GET /v1/captions', () => {
  it('streams each event with its id, in a form that no proxy holds back', async () => {
    await open();
    const stream = await readEvents('/v1/captions');
    say('CA1');
    say('CA2');
    const events = await stream.take(2);
    expect(events.map(({ id, data, event }) => [id, JSON.parse(data), event])).toEqual([
      ['e-1', said('CA1'), undefined],
      ['e-2', said('CA2'), undefined],
    ]);
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': expect.stringContaining('no-transform'),
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    expect(stream.retryMs).toBe(2000);
  });

  it('keeps to one call when asked to', async () => {
    await open();
    const stream = await readEvents('/v1/captions?call=CA2');
    say('CA1');
    say('CA2');
    expect((await stream.take(1)).map(({ id }) => id)).toEqual(['e-2']);
  });

  it.each([
    ['Last-Event-ID', '/v1/captions', { 'last-event-id': 'e-2' }],
    ['?after=', '/v1/captions?after=e-2', {}],
    [
      'Last-Event-ID rather than the ?after= of an earlier connection',
      '/v1/captions?after=e-1',
      { 'last-event-id': 'e-2' },
    ],
  ])('goes on after %s', async (_what, path, headers) => {
    await open();
    for (const digit of ['1', '2', '3', '4']) say('CA1', digit);
    expect((await (await readEvents(path, headers)).take(2)).map(({ id }) => id)).toEqual(['e-3', 'e-4']);
  });

  it('begins with what comes next for an empty ?after=', async () => {
    await open();
    say('CA1', '1');
    const stream = await readEvents('/v1/captions?after=&call=');
    say('CA1', '2');
    expect((await stream.take(1)).map(({ id }) => id)).toEqual(['e-2']);
  });

  it('shows a sign of life every 15 s', async () => {
    await open();
    const stream = await readEvents('/v1/captions');
    testServer.clock.advance(15_000);
    await stream.comment();
  });

  it('ends the stream with the server', async () => {
    await open();
    const stream = await readEvents('/v1/captions');
    const ended = new Promise((resolve) => stream.response.once('end', resolve));
    await testServer.app.close();
    await ended;
  });

  it('lets the reader go when its connection is lost', async () => {
    await open({ FEED_READERS_MAX: '1' });
    const lost = new Promise<void>((resolve) => {
      testServer.app.server.once('connection', (socket) => socket.once('close', () => setImmediate(resolve)));
    });
    const stream = await readEvents('/v1/captions');
    const refused = await fetch(`${url}/v1/captions`);
    expect([refused.status, await refused.json()]).toEqual([
      503,
      { error: expect.objectContaining({ code: 'too_many_readers' }) },
    ]);
    stream.response.destroy();
    await lost;
    expect(await testServer.metrics.registry.getSingleMetricAsString('trunkline_feed_readers')).toContain(
      '{kind="sse"} 0',
    );
    await readEvents('/v1/captions');
  });

  it('cuts off a reader that stops reading', async () => {
    await open({ SEND_BUFFER_MAX_BYTES: '4096' });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /v1/captions HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    const text = 'x'.repeat(50_000);
    const isCut = async () =>
      /cut_total 1$/.test(
        await testServer.metrics.registry.getSingleMetricAsString('trunkline_feed_readers_cut_total'),
      );
    for (let i = 0; i < 1000 && !(await isCut()); i++) {
      say('CA1', text);
      await new Promise(setImmediate);
    }
    expect(await isCut()).toBe(true);
    socket.on('error', () => undefined).resume();
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('has no HEAD, which would never end', async () => {
    await open();
    expect((await testServer.app.inject({ method: 'HEAD', url: '/v1/captions' })).statusCode).toBe(404);
  });
});

it('what the record cannot give is said to the reader that resumes, in both forms, before live events', async () => {
  const databases = DATABASES[0].start();
  const database = await databases.open();
  await open({ FEED_HISTORY: '10' }, database);
  for (let n = 1; n <= 12; n++) say('CA1', String(n % 10));
  await database.close();
  const missing = { type: 'events.missing', after: 'e-1' };
  const [first, second] = await (await readEvents('/v1/captions?after=e-1')).take(2);
  expect([first?.id, JSON.parse(first?.data ?? '')]).toEqual([undefined, missing]);
  expect([second?.id, JSON.parse(second?.data ?? '')]).toEqual(['e-3', said('CA1', '3')]);
  const { take } = await readMessages('/v1/captions?ids=true&after=e-1');
  expect(await take(2)).toEqual([
    { id: 'e-1', ...missing },
    { id: 'e-3', ...said('CA1', '3') },
  ]);
  expect(testServer.logLines.join('')).toContain('a reader of the feed goes on without stored events');
  await databases.end();
});

describe('WS /v1/captions', () => {
  it('says the same objects, nothing more', async () => {
    await open();
    const socket = await readMessages('/v1/captions');
    say('CA1');
    expect(await socket.take(1)).toEqual([said('CA1')]);
  });

  it('adds ids when asked to, with which a reader goes on', async () => {
    await open();
    const first = await readMessages('/v1/captions?ids=true');
    say('CA1', '1');
    const [seen] = await first.take(1);
    expect(seen).toEqual({ id: 'e-1', ...said('CA1', '1') });
    first.socket.close();
    say('CA1', '2');
    const second = await readMessages('/v1/captions?ids=true&after=e-1');
    expect(await second.take(1)).toEqual([{ id: 'e-2', ...said('CA1', '2') }]);
  });

  it('counts its readers together with those of the event streams', async () => {
    await open({ FEED_READERS_MAX: '1' });
    await readMessages('/v1/captions');
    expect((await fetch(`${url}/v1/captions`)).status).toBe(503);
  });

  /** Two readers, of which the second stops reading until it is cut off. */
  async function cutOff() {
    await open({ SEND_BUFFER_MAX_BYTES: '4096' });
    const reading = await readMessages('/v1/captions');
    const stuck = await readMessages('/v1/captions');
    stuck.socket.pause();
    const isCut = async () =>
      /cut_total 1$/.test(
        await testServer.metrics.registry.getSingleMetricAsString('trunkline_feed_readers_cut_total'),
      );
    for (let i = 0; i < 1000 && !(await isCut()); i++) {
      say('CA1', 'x'.repeat(50_000));
      await reading.take(1);
    }
    expect(await isCut()).toBe(true);
    return { reading, stuck };
  }

  it('is closed with 4413 when it stops reading, which disturbs no other', async () => {
    const { reading, stuck } = await cutOff();
    const closed = closeCode(stuck.socket);
    stuck.socket.resume();
    expect(await closed).toBe(4413);
    expect(reading.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('is torn down when it does not take in the close either', async () => {
    const { stuck } = await cutOff();
    const gone = Promise.all(
      [...testServer.app.websocketServer.clients]
        .filter((client) => client.readyState === WebSocket.CLOSING)
        .map(closeCode),
    );
    testServer.clock.advance(1000);
    expect(await gone).toEqual([1006]);
    stuck.socket.resume();
  });

  it('pings every 15 s and lets go of a peer that never answers', async () => {
    await open();
    const alive = await readMessages('/v1/captions');
    const dead = await readMessages('/v1/captions', { autoPong: false });
    const pinged = [alive, dead].map(({ socket }) => new Promise((resolve) => socket.once('ping', resolve)));
    const clients = [...testServer.app.websocketServer.clients];
    const answered = Promise.race(clients.map((client) => new Promise((resolve) => client.once('pong', resolve))));
    const lost = closeCode(dead.socket);
    testServer.clock.advance(15_000);
    await Promise.all([...pinged, answered]);
    testServer.clock.advance(15_000);
    expect(await lost).toBe(1006);
    expect(alive.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('is closed with 1009 after a message that is too large, and ignores any other', async () => {
    await open({ MESSAGE_MAX_BYTES: '1024' });
    const { socket, take } = await readMessages('/v1/captions');
    socket.send('hello');
    say('CA1');
    expect(await take(1)).toEqual([said('CA1')]);
    const closed = closeCode(socket);
    socket.send('x'.repeat(1025));
    expect(await closed).toBe(1009);
  });

  it('is closed with 1012 when the server ends', async () => {
    await open();
    const { socket } = await readMessages('/v1/captions');
    const closed = closeCode(socket);
    await testServer.app.close();
    expect(await closed).toBe(1012);
  });
});

/** The code that `socket` is closed with. */
function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once('close', resolve));
}

/** An event stream, open. */
async function readEvents(path: string, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(`${url}${path}`, { headers }, resolve).on('error', reject).end();
  });
  const events: EventSourceMessage[] = [];
  const stream = { response, retryMs: 0, take, comment };
  let comments = 0;
  let onChange = () => {};
  const parser = createParser({
    onEvent: (event) => void events.push(event),
    onComment: () => {
      comments += 1;
    },
    onRetry: (retryMs) => {
      stream.retryMs = retryMs;
    },
  });
  response.setEncoding('utf8').on('error', () => undefined);
  response.on('data', (text: string) => {
    parser.feed(text);
    onChange();
  });
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        onChange = resolve;
      });
    }
  };
  async function take(count: number): Promise<EventSourceMessage[]> {
    await until(() => events.length >= count);
    return events.splice(0, count);
  }
  async function comment(): Promise<void> {
    await until(() => comments > 0);
  }
  return stream;
}

/** A WebSocket reader, open. */
async function readMessages(path: string, options: { autoPong?: boolean } = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, options);
  const messages: unknown[] = [];
  let onChange = () => {};
  socket.on('message', (data: Buffer) => {
    messages.push(JSON.parse(data.toString('utf8')));
    onChange();
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve));
  const take = async (count: number): Promise<unknown[]> => {
    while (messages.length < count) {
      await new Promise<void>((resolve) => {
        onChange = resolve;
      });
    }
    return messages.splice(0, count);
  };
  return { socket, take };
}
