import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type RequestOptions, request as requestByHttps } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ServerClient } from '../../src/cli/server-client.ts';
import { ForwardClient } from '../../src/cluster/forward/forward-client.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { type Gateway, runGateway } from '../../src/gateway/main.ts';
import { type CertificateFiles, makeCertificate } from '../helpers/certificates.ts';
import { eventually } from '../helpers/eventually.ts';
import { readSettings } from '../helpers/settings.ts';

const KEY = 'a-key-of-sixteen-characters';

let folder: string;
let files: CertificateFiles;
let gateway: Gateway;
let ca: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tls-'));
  files = makeCertificate(folder, 'one');
  ca = readFileSync(files.cert, 'utf8');
});
afterEach(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = await runGateway(
    readSettings({
      PORT: '0',
      ENGINE_PRELOAD: 'false',
      ENGINE_WORKERS: '1',
      ASR_MODEL: 'tone',
      VAD_MODEL: 'tone',
      MODELS_DIR: 'none',
      DATA_DIR: 'none',
      LOG_LEVEL: 'silent',
      API_KEYS: KEY,
      TLS_CERT: files.cert,
      TLS_KEY: files.key,
      ...environment,
    }),
  );
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly cookie: string;
}

function ask(path: string, options: RequestOptions = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = requestByHttps(`${gateway.url}${path}`, { ca, agent: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
          cookie: String(response.headers['set-cookie'] ?? ''),
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function shake(): Promise<TLSSocket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

const nameOf = (socket: TLSSocket): unknown => socket.getPeerCertificate().subject.CN;

describe('a server with TLS_CERT', () => {
  it('answers https and wss on its port', async () => {
    await start();
    expect(gateway.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await ask('/health')).toMatchObject({ status: 200 });
    const url = `${gateway.url.replace('https', 'wss')}/ws/transcribe`;
    const socket = new WebSocket(url, ['token', KEY], { ca });
    const [greeting] = (await once(socket, 'message')) as [Buffer];
    expect([socket.protocol, JSON.parse(greeting.toString())]).toMatchObject(['token', { status: 'connected' }]);
    socket.terminate();
  });

  it('says so where it names itself: browsers keep the session for https alone', async () => {
    await start();
    const headers = { 'content-type': 'application/json' };
    const signedIn = await ask('/v1/session', { method: 'POST', headers }, JSON.stringify({ key: KEY }));
    expect(signedIn).toMatchObject({ status: 204 });
    expect(signedIn.cookie).toContain('; Secure');
  });

  it('ends connections that speak no TLS, and goes on', async () => {
    await start();
    const { hostname, port } = new URL(gateway.url);
    const plain = connectPlain(Number(port), hostname);
    plain.on('error', () => undefined);
    const closed = once(plain, 'close');
    plain.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await closed;
    expect(await ask('/health')).toMatchObject({ status: 200 });
  });

  it('counts its connections as others do: an idle one makes room, one in use does not', async () => {
    await start({ CONNECTIONS_MAX: '16' });
    const url = `${gateway.url.replace('https', 'wss')}/ws/transcribe`;
    const used = new WebSocket(url, ['token', KEY], { ca });
    await once(used, 'open');
    const idle = await Promise.all(Array.from({ length: 16 }, shake));
    expect(await ask('/health')).toMatchObject({ status: 200 });
    await eventually(() => expect(idle.some(({ destroyed }) => destroyed)).toBe(true));
    expect(used.readyState).toBe(WebSocket.OPEN);
    used.terminate();
    for (const socket of idle) socket.destroy();
  });

  it('outlives connections that are replaced before they have shown that they speak TLS', async () => {
    await start({ CONNECTIONS_MAX: '10' });
    const { hostname, port } = new URL(gateway.url);
    const sockets = Array.from({ length: 50 }, () => connectPlain({ host: hostname, port: Number(port) }));
    for (const socket of sockets) socket.on('error', () => undefined);
    await eventually(() => expect(sockets.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(40));
    expect((await ask('/health')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('shows a renewed certificate to new connections, and those that are open go on', async () => {
    await start();
    const open = await shake();
    expect(nameOf(open)).toBe('one');
    const two = makeCertificate(folder, 'two');
    copyFileSync(two.cert, files.cert);
    copyFileSync(two.key, files.key);
    await eventually(async () => {
      const next = await shake();
      const name = nameOf(next);
      next.destroy();
      expect(name).toBe('two');
    });
    open.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [answer] = (await once(open, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200/);
    open.destroy();
  });

  it('is told of by commands and other gateways that do not believe its certificate', async () => {
    await start();
    const hint = /self-signed.*NODE_EXTRA_CA_CERTS/;
    await expect(new ServerClient({ url: gateway.url, key: KEY }).isThere(5000)).rejects.toThrow(hint);
    const forward = new ForwardClient({ key: KEY, me: 'g1', clock: systemClock });
    const asked = { method: 'GET', path: '/health', headers: {}, body: null, principal: '{}', answerMs: 5000 };
    const sent = forward.send({ address: gateway.url }, { ...asked, signal: new AbortController().signal });
    await expect(sent).rejects.toMatchObject({ code: 'gateway_unreachable' });
    forward.close();
  });
});
