import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { listen, startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;
beforeEach(async () => {
  testServer = await startServer();
});
afterEach(() => testServer.app.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function idFor(sent: string | undefined): Promise<unknown> {
  const headers = sent === undefined ? {} : { 'x-request-id': sent };
  return (await testServer.app.inject({ url: '/health', headers })).headers['x-request-id'];
}

/** The answer to `bytes` sent as they are. */
async function exchange(
  bytes: string,
): Promise<{ id: string | undefined; error: { request_id: string; message: string } }> {
  const socket = connect(Number(new URL(await listen(testServer.app)).port), '127.0.0.1');
  socket.end(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  return { id: /^X-Request-ID: (.*)$/im.exec(head)?.[1], error: JSON.parse(body).error };
}

describe('X-Request-ID', () => {
  it.each([
    'req_01HZX3',
    'b1946ac9-2492-4a43-8f3e-0d0f6c1a7d11',
    'Root=1-67891233-abcdef012345678912345678',
    'YWJj+/==',
    'x'.repeat(128),
  ])('of the client is taken over: %s', async (id) => {
    expect(await idFor(id)).toBe(id);
  });

  it.each([
    undefined,
    '',
    ' ',
    'two words',
    'a,b',
    'x'.repeat(129),
    'jane@example.com',
    '"quoted"',
    'ünicode',
    '-dash',
  ])('is made here where the client sent %j', async (sent) => {
    expect(await idFor(sent)).toMatch(UUID);
  });

  it('is another for each request', async () => {
    expect(await idFor(undefined)).not.toBe(await idFor(undefined));
  });

  it('is in errors and in the log', async () => {
    const headers = { 'x-request-id': 'mine-1' };
    testServer.engine.failure = 'model_failed';
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v1/audio/speech',
      payload: { model: 'tts-1', input: 'Hello.' },
      headers,
    });
    expect(answer.json().error).toMatchObject({
      code: 'internal',
      request_id: 'mine-1',
      message: expect.stringContaining('mine-1'),
    });
    const lines = testServer.logLines.filter((line) => line.includes('"requestId":"mine-1"'));
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['request failed', 'request']);
  });

  it.each([
    ['a path that is not there', '/v1/nothing', 404],
    ['a path that cannot be read', '/%zz', 400],
  ])('is in the answer to %s', async (_what, url, status) => {
    const answer = await testServer.app.inject({ url, headers: { 'x-request-id': 'mine-2' } });
    expect([answer.statusCode, answer.headers['x-request-id'], answer.json().error.request_id]).toEqual([
      status,
      'mine-2',
      'mine-2',
    ]);
  });

  it('is in an event stream: in its head, and in the error that ends it', async () => {
    testServer.engine.utter = ({ text }) => {
      if (text.startsWith('Two')) throw new Error('it broke');
      return new Int16Array(320);
    };
    const payload = {
      model: 'tts-1',
      input: 'One is here. Two is there.',
      response_format: 'pcm',
      stream_format: 'sse',
    };
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v1/audio/speech',
      payload,
      headers: { 'x-request-id': 'mine-3' },
    });
    expect(answer.headers['x-request-id']).toBe('mine-3');
    expect(answer.body).toContain('"request_id":"mine-3"');
  });

  it('is in the answer that opens a WebSocket, and in its errors', async () => {
    const url = await listen(testServer.app);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/audio/speech/ws`, {
      headers: { 'x-request-id': 'mine-4' },
    });
    const opened = once(socket, 'open');
    const [response] = (await once(socket, 'upgrade')) as [{ headers: Record<string, string> }];
    expect(response.headers['x-request-id']).toBe('mine-4');
    await opened;
    socket.send('{"input":""}');
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(data.toString())).toMatchObject({
      event: 'error',
      error: { param: 'input', request_id: 'mine-4' },
    });
    socket.terminate();
  });

  it('is in the answer to what is no HTTP', async () => {
    const { id, error } = await exchange('rubbish\r\n\r\n');
    expect(id).toMatch(UUID);
    expect(error.request_id).toBe(id);
  });

  it.each([
    ['key', 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short', 'Missing or invalid Sec-WebSocket-Key header'],
    [
      'version',
      'Sec-WebSocket-Version: 99\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Missing or invalid Sec-WebSocket-Version header',
    ],
  ])('is in the answer to a handshake with a bad %s', async (_what, headers, why) => {
    const answer = await exchange(
      'GET /ws/transcribe HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: mine-5\r\nConnection: ' +
        `Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n\r\n`,
    );
    expect(answer.id).toBe('mine-5');
    expect(answer.error).toMatchObject({
      request_id: 'mine-5',
      code: 'invalid_request',
      message: expect.stringContaining(why),
    });
  });

  it('comes with words on a head that is too large', async () => {
    const { error } = await exchange(
      `GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: ${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expect(error.message).toBe('the request headers have more than 16384 bytes, the most allowed');
  });

  it('is counted by whose it is', async () => {
    for (const sent of ['mine', 'no good', undefined]) await idFor(sent);
    const { values } = await testServer.metrics.requestIds.get();
    expect(values.map(({ labels, value }) => [labels['from'], value])).toEqual([
      ['client', 1],
      ['replaced', 1],
      ['made', 1],
    ]);
  });
});
