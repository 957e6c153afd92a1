import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;
beforeEach(async () => {
  testServer = await startServer();
});
afterEach(() => testServer.app.close());

const OFFER = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n';

/** Sends `pieces` one after the other, and resolves with what came back when it holds `until`. */
async function exchange(pieces: readonly string[], until: string): Promise<string> {
  const client = connect(Number(new URL(await listen(testServer.app)).port), '127.0.0.1');
  let answer = '';
  client.setNoDelay(true).on('data', (data) => {
    answer += data.toString();
  });
  for (const piece of pieces) await new Promise((resolve) => client.write(piece, resolve));
  await eventually(() => expect(answer).toContain(until));
  client.destroy();
  return answer;
}

it('is answered as if nothing had been offered, and so is the next request', async () => {
  const head = `GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: mine-1\r\n${OFFER}\r\n`;
  const answer = await exchange([head, 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'], 'route_not_found');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nx-request-id: mine-1\r\n/);
});

it.each(['in one piece', 'in many'])('keeps the body of a request that offers it, %s', async (how) => {
  const body = JSON.stringify({ model: 'tts-1', input: '', padding: 'x'.repeat(60_000) });
  const request =
    'POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ' +
    `${body.length}\r\n${OFFER}\r\n${body}`;
  const pieces = how === 'in many' ? (request.match(/[\s\S]{1,9000}/g) ?? []) : [request];
  expect(await exchange(pieces, '"param":"input"')).toMatch(/^HTTP\/1\.1 400 /);
});
