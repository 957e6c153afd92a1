/** A server with OpenAI's transcriptions, which misbehaves as it is told to. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What came in a request. */
export interface ReceivedForm {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Its texts by name, and the bytes of its file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly fileBytes: number;
  /** Which of the server's connections it came on, counted from 0. */
  readonly connection: number;
}

/** Answers a request. */
export type Behaviour = (response: ServerResponse, form: ReceivedForm, request: IncomingMessage) => void;

/** Answers with JSON. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };
}

/** Listens on a free port of this machine from {@link listen} on. */
export class AsrServer {
  behave: Behaviour = json({ text: 'Heard.' });
  readonly received: ReceivedForm[] = [];
  /** Connections so far, and those of them that were closed while a request waited for its answer. */
  connections = 0;
  givenUp = 0;
  readonly #server: Server;
  readonly #sockets = new Map<Socket, number>();

  constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket) => {
      this.#sockets.set(socket, this.connections++);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Breaks all connections, as a server that dies. */
  breakConnections(): void {
    for (const socket of this.#sockets.keys()) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.givenUp++;
    });
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    const sent = new Response(body, { headers: { 'content-type': request.headers['content-type'] ?? '' } });
    const parts = [...(await sent.formData())];
    const file = parts.find(([, value]) => typeof value !== 'string')?.[1] as File | undefined;
    const form: ReceivedForm = {
      path: request.url ?? '',
      headers: request.headers,
      fields: Object.fromEntries(parts.filter((part): part is [string, string] => typeof part[1] === 'string')),
      fileBytes: file?.size ?? 0,
      connection: this.#sockets.get(request.socket) ?? -1,
    };
    this.received.push(form);
    this.behave(response, form, request);
  }
}
