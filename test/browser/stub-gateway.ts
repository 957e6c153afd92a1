/**
 * Stands in for the gateway under the page: serves the page's files, a list of calls and a feed that say what the test
 * wants, when it wants it.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { extname } from 'node:path';
import type { CallView } from '../../src/calls/call-view.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import type { TranscriptItem } from '../../src/calls/feed/transcript.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

/** As the gateway's. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

export class StubGateway {
  calls: CallView[] = [];
  /** Finals of each call's transcript. */
  readonly finals = new Map<string, TranscriptItem[]>();
  /** Events of each call's record; a call that has none here has a transcript alone. */
  readonly events = new Map<string, FeedEvent[]>();
  /** What the page asked the server to do. */
  readonly deeds: { method: string; path: string; body: unknown }[] = [];
  /** What `GET /v1/session` says; null = this server does not know the question. */
  person: object | null = { name: 'anna', role: 'supervisor', agent: null };
  /** Bytes of every recorded sound, WAV. */
  sound: Buffer | null = null;
  /** The key to ask for; null = none. */
  key: string | null = null;
  /** Answers every request for calls with this status. */
  failure: { status: number; message: string } | null = null;
  /** `Last-Event-ID` of each time a feed was opened, `null` where none was sent. */
  readonly resumedFrom: (string | null)[] = [];
  readonly #server: Server;
  readonly #readers = new Map<ServerResponse, string>();
  readonly #sockets = new Set<Socket>();
  #lastId = 0;
  #port = 0;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  /** Listens on a free port, or again on the one it had. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Vanishes like a gateway that was killed. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#readers.clear();
    await closed;
  }

  /** Sends `event` to everyone who reads its call. */
  publish(event: FeedEvent): void {
    this.#lastId += 1;
    for (const [reader, callId] of this.#readers) {
      if (callId === '' || callId === event.callId)
        reader.write(`id: stub-${this.#lastId}\ndata: ${JSON.stringify(event)}\n\n`);
    }
  }

  /** Cuts every open feed. */
  cutFeeds(): void {
    for (const reader of this.#readers.keys()) reader.destroy();
    this.#readers.clear();
  }

  get readers(): number {
    return this.#readers.size;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    if (!pathname.startsWith('/v1/')) return this.#sendFile(pathname === '/' ? '/index.html' : pathname, response);
    if (pathname === '/v1/session' && request.method === 'POST') return this.#openSession(request, response);
    if (pathname === '/v1/session' && request.method === 'DELETE') {
      response.writeHead(204, { 'set-cookie': 'session=; Path=/; Max-Age=0' }).end();
      return;
    }
    if (this.key !== null && !request.headers.cookie?.includes('session=open'))
      return sendError(response, 401, 'a key is wanted');
    if (pathname === '/v1/session')
      return this.person === null ? sendError(response, 404, 'no such route') : sendJson(response, this.person);
    if (this.failure !== null) return sendError(response, this.failure.status, this.failure.message);
    if (pathname === '/v1/calls') return sendJson(response, { data: this.calls, next: null });
    if (pathname === '/v1/captions') return this.#openFeed(searchParams.get('call') ?? '', request, response);
    if (request.method !== 'GET') return this.#take(request, pathname, response);
    return this.#tellOfCall(pathname, request.headers.range ?? '', response);
  }

  /** Notes what the page wants done, and has it done. */
  async #take(request: IncomingMessage, path: string, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    this.deeds.push({ method: request.method ?? '', path, body: text === '' ? null : JSON.parse(text) });
    sendJson(response, {});
  }

  async #tellOfCall(path: string, range: string, response: ServerResponse): Promise<void> {
    const [, encoded = '', what = ''] = /^\/v1\/calls\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const id = decodeURIComponent(encoded);
    const view = this.calls.find((call) => call.id === id);
    const events = this.events.get(id);
    if (what === 'transcript') return sendJson(response, { data: this.finals.get(id) ?? [] });
    if (what === 'events' && events !== undefined) return sendJson(response, { data: events, next: null });
    if (what === 'sound' && this.sound !== null) return this.#sendSound(this.sound, range, response);
    if (what === '' && view !== undefined) return sendJson(response, view);
    return sendError(response, 404, 'no such route');
  }

  /** Browsers seek with ranges. */
  #sendSound(sound: Buffer, range: string, response: ServerResponse): void {
    const from = Number(/^bytes=(\d+)-/.exec(range)?.[1] ?? 0);
    const headers = { 'content-type': 'audio/wav', 'accept-ranges': 'bytes' };
    const part = { 'content-range': `bytes ${from}-${sound.length - 1}/${sound.length}` };
    if (range === '') response.writeHead(200, headers).end(sound);
    else response.writeHead(206, Object.assign(headers, part)).end(sound.subarray(from));
  }

  async #sendFile(path: string, response: ServerResponse): Promise<void> {
    const bytes = await readFile(packagePath('src', 'console', 'page', path.slice(1))).catch(() => null);
    if (bytes === null) return sendError(response, 404, `no file ${path}`);
    response.writeHead(200, {
      'content-type': MEDIA_TYPES[extname(path)] ?? 'application/octet-stream',
      'content-security-policy': CONTENT_SECURITY_POLICY,
    });
    response.end(bytes);
  }

  async #openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { key } = JSON.parse(await readBody(request)) as { key: string };
    if (key !== this.key) return sendError(response, 401, 'that is no key');
    response.writeHead(204, { 'set-cookie': 'session=open; HttpOnly; SameSite=Strict; Path=/' }).end();
  }

  #openFeed(callId: string, request: IncomingMessage, response: ServerResponse): void {
    const resumedFrom = request.headers['last-event-id'];
    this.resumedFrom.push(typeof resumedFrom === 'string' ? resumedFrom : null);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 100\n\n');
    this.#readers.set(response, callId);
    response.on('close', () => this.#readers.delete(response));
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { message, type: 'x', param: null, code: 'x' } }));
}
