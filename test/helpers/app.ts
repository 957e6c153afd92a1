/** The app's end of ConversationRelay, in the hand of the test. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** A frame that the app got, parsed. */
export type GotFrame = Readonly<Record<string, unknown>> & { readonly type: string };

/** An app that listens on a free port of this machine and keeps what it is told. */
export class TestApp {
  readonly frames: GotFrame[] = [];
  readonly requests: IncomingMessage[] = [];
  /** How the connections ended that did, in order. */
  readonly closeCodes: number[] = [];
  readonly #server: WebSocketServer;
  readonly #sockets: WebSocket[] = [];
  readonly #waiters = new Set<() => void>();
  readonly port: number;

  constructor(server: WebSocketServer) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket, request) => {
      this.#sockets.push(socket);
      this.requests.push(request);
      socket.on('message', (data: Buffer) => {
        this.frames.push(JSON.parse(data.toString()) as GotFrame);
        this.#wake();
      });
      socket.on('close', (code) => {
        this.closeCodes.push(code);
        this.#wake();
      });
      this.#wake();
    });
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/calls?x=1`;
  }

  /** The latest connection. */
  get socket(): WebSocket {
    const socket = this.#sockets.at(-1);
    if (socket === undefined) throw new Error('nobody has called');
    return socket;
  }

  of(type: string): GotFrame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  say(...frames: unknown[]): void {
    for (const frame of frames) this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Resolves as soon as `holds`, looked at after everything that happens to the app. */
  async until(holds: (app: this) => boolean): Promise<void> {
    while (!holds(this)) await new Promise<void>((resolve) => this.#waiters.add(resolve));
  }

  /** Resolves when the bridge has read everything that was said to it so far and the app has got all answers. */
  async exchanged(): Promise<void> {
    const { socket } = this;
    socket.ping('exchanged');
    await once(socket, 'pong');
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }
}

/** Starts an app; `port` = one that was used before. */
export async function startApp(port = 0): Promise<TestApp> {
  const server = new WebSocketServer({ host: '127.0.0.1', port });
  await once(server, 'listening');
  return new TestApp(server);
}
