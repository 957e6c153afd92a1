import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { makeCertificate } from '../../helpers/certificates.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../test-server.ts';

let testServer: TestServer;
let folder: string | null = null;
afterEach(async () => {
  await testServer.app.close();
  if (folder !== null) rmSync(folder, { recursive: true });
  folder = null;
});

const notices = () => testServer.logLines.filter((line) => line.includes('a client spoke'));

async function gone(socket: Socket): Promise<void> {
  socket.on('error', () => undefined).resume();
  await new Promise((resolve) => socket.once('close', resolve));
}

it('the log names what a client lacks that speaks TLS to a server without it, once a minute', async () => {
  testServer = await startServer();
  const port = Number(new URL(await listen(testServer.app)).port);
  const shake = () => gone(connect({ port, host: '127.0.0.1', rejectUnauthorized: false }));
  await shake();
  await shake();
  await eventually(() => expect(notices()).toEqual([expect.stringContaining('needs TLS_CERT and TLS_KEY')]));
  testServer.clock.advance(60_000);
  await shake();
  await eventually(() => expect(notices()).toHaveLength(2));
});

it('and what one lacks that speaks http to a server with TLS', async () => {
  folder = mkdtempSync(join(tmpdir(), 'tls-notice-'));
  const { cert, key } = makeCertificate(folder, 'one');
  testServer = await startServer({ TLS_CERT: cert, TLS_KEY: key });
  const port = Number(new URL(await listen(testServer.app)).port);
  const plain = connectPlain(port, '127.0.0.1');
  plain.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await gone(plain);
  await eventually(() => expect(notices()).toEqual([expect.stringContaining('speaks https alone')]));
});
