import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listen, startServer, type TestServer, upgradeStatus } from '../http/test-server.ts';

let testServer: TestServer;
afterEach(() => testServer.app.close());

const errorOf = (body: string) =>
  (JSON.parse(body) as { error: { code: string; message: string; type: string; param: null } }).error;

describe('the server', () => {
  it('answers unknown paths and methods with route_not_found, without repeating the query', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject({ method: 'PUT', url: '/v1/nothing?key=secret' });
    expect(answer.statusCode).toBe(404);
    expect(errorOf(answer.body)).toEqual({
      message: 'there is no PUT /v1/nothing; /docs lists all routes',
      type: 'not_found_error',
      param: null,
      code: 'route_not_found',
      request_id: answer.headers['x-request-id'],
    });
  });

  it.each([
    ['/v1/agent/converse', 'WS /v2/listen and WS /v1/speak'],
    ['/v1/realtime/calls', 'use WS /v1/realtime'],
    ['/v1/realtime/sessions', 'use POST /v1/realtime/client_secrets'],
    ['/v1/realtime/transcription_sessions', 'use POST /v1/realtime/client_secrets'],
    ['/v1/chat/completions', 'LLM_BASE_URL'],
  ])('says what to use in place of a path that clients of others ask for: %s', async (url, instead) => {
    testServer = await startServer();
    const answer = await testServer.app.inject({ method: 'POST', url });
    expect([answer.statusCode, errorOf(answer.body).message]).toEqual([404, expect.stringContaining(instead)]);
  });

  it.each([
    ['a query parameter that does not exist', '/v1/calls?colour=red', 'query'],
    ['a value that is not allowed', '/v1/calls/CA1/transcript?format=xml', 'query.format: got "xml"'],
    ['a value of the wrong length', `/v1/captions?call=${'x'.repeat(301)}`, 'query.call: got "xxx'],
    ['a parameter given twice', '/v1/calls/CA1/transcript?format=srt&format=vtt', 'query.format: got ["srt","vtt"]'],
  ])('refuses %s and says where and what', async (_what, url, expected) => {
    testServer = await startServer();
    const answer = await testServer.app.inject(url);
    expect(answer.statusCode).toBe(400);
    expect(errorOf(answer.body)).toMatchObject({ code: 'invalid_request', type: 'invalid_request_error' });
    expect(errorOf(answer.body).message).toContain(expected);
    expect(answer.body.length).toBeLessThan(500);
  });

  it('refuses a body that is too large', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v1/session',
      payload: { key: 'x'.repeat(70_000) },
    });
    expect(answer.statusCode).toBe(413);
    expect(errorOf(answer.body).code).toBe('message_too_large');
  });

  it.each([
    ['broken JSON', 'application/json', '{'],
    ['another content type', 'text/csv', 'a,b'],
  ])('refuses %s with invalid_request', async (_what, type, payload) => {
    testServer = await startServer();
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v1/session',
      headers: { 'content-type': type },
      payload,
    });
    expect([answer.statusCode, errorOf(answer.body).code]).toEqual([400, 'invalid_request']);
  });

  it('answers a path that cannot be decoded, and bytes that are no HTTP, in the same shape', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject('/v1/calls/%E0%A4%A');
    expect([answer.statusCode, errorOf(answer.body).code]).toEqual([400, 'invalid_request']);
    const raw = await exchange(await listen(testServer.app), 'hello\r\n\r\n');
    expect(raw).toMatch(/^HTTP\/1\.1 400 /);
    expect(errorOf(raw.slice(raw.indexOf('{'))).code).toBe('invalid_request');
  });

  it('hides what went wrong inside and logs it under the id that the client is told', async () => {
    testServer = await startServer();
    testServer.calls.list = () => {
      throw new Error('the dog ate it');
    };
    const answer = await testServer.app.inject('/v1/calls');
    const requestId = String(answer.headers['x-request-id']);
    expect(answer.statusCode).toBe(500);
    expect(errorOf(answer.body)).toMatchObject({ code: 'internal', type: 'server_error' });
    expect(answer.body).toContain(requestId);
    expect(answer.body).not.toContain('dog');
    expect(testServer.logLines.find((line) => line.includes('the dog ate it'))).toContain(requestId);
  });

  it('counts refusals by their code', async () => {
    testServer = await startServer();
    await testServer.app.inject('/nowhere');
    await testServer.app.inject('/v1/calls/CA404');
    expect(await testServer.metrics.registry.getSingleMetricAsString('trunkline_refused_total')).toContain(
      '{code="call_not_found"} 1',
    );
  });

  it('logs a request at debug level by its route, never with its query', async () => {
    testServer = await startServer();
    await testServer.app.inject('/v1/calls/CAsecret/transcript?format=text');
    const line = testServer.logLines.find((candidate) => candidate.includes('"msg":"request"')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      level: 20,
      method: 'GET',
      route: '/v1/calls/:id/transcript',
      status: 404,
    });
    expect(testServer.logLines.join('')).not.toMatch(/CAsecret|format=/);
  });

  it('tells browsers not to guess types or to pass addresses on', async () => {
    testServer = await startServer();
    const answer = await testServer.app.inject('/v1/calls');
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it('refuses an upgrade where there is no socket', async () => {
    testServer = await startServer();
    const url = await listen(testServer.app);
    expect(await upgradeStatus(`${url}/v1/calls`)).toBe(404);
    expect(await upgradeStatus(`${url}/nowhere`)).toBe(404);
  });

  it('closes although a WebSocket never answers', async () => {
    testServer = await startServer();
    const url = await listen(testServer.app);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      'GET /v1/captions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: ' +
        'websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await new Promise((resolve) => socket.once('data', resolve));
    const gone = new Promise((resolve) => socket.once('close', resolve));
    const closed = testServer.app.close();
    await new Promise((resolve) => socket.once('data', resolve));
    testServer.clock.advance(1000);
    await Promise.all([closed, gone]);
  });
});

/** Sends `bytes` to `url`; resolves with everything that comes back until the server closes. */
function exchange(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
    });
    socket.on('error', reject).on('close', () => resolve(text));
  });
}
