import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { answerUnreadable } from '../../../src/http/server/errors.ts';

it('a connection whose handshake does not come is ended, and nothing is written to it', async () => {
  const server = createServer({ handshakeTimeout: 20 });
  server.on('tlsClientError', answerUnreadable);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.on('error', () => undefined);
  await once(socket, 'close');
  expect(bytes).toBe(0);
  server.close();
});
