/**
 * The other end of a carrier's socket, as a test sees it: a WebSocket server that keeps what it is told and says what
 * the test wants.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/** One message of a carrier, parsed. */
export type CarrierMessage = { readonly event: string } & Readonly<Record<string, unknown>>;

/** A bridge for one call. */
export class TestBridge {
  readonly messages: CarrierMessage[] = [];
  readonly #server: WebSocketServer;
  #socket: WebSocket | null = null;
  request: IncomingMessage | null = null;
  closeCode: number | null = null;

  constructor(server: WebSocketServer, onMessage: (message: CarrierMessage, bridge: TestBridge) => void) {
    this.#server = server;
    server.on('connection', (socket, request) => {
      this.#socket = socket;
      this.request = request;
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as CarrierMessage;
        this.messages.push(message);
        onMessage(message, this);
      });
      socket.on('close', (code) => {
        this.closeCode = code;
      });
    });
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the bridge does not listen');
    return `ws://127.0.0.1:${address.port}/twilio/media`;
  }

  get socket(): WebSocket {
    if (this.#socket === null) throw new Error('nobody has called');
    return this.#socket;
  }

  events(event: string): CarrierMessage[] {
    return this.messages.filter((message) => message.event === event);
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A bridge that listens on a free port of this machine. */
export async function startBridge(
  onMessage: (message: CarrierMessage, bridge: TestBridge) => void = () => undefined,
): Promise<TestBridge> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  return new TestBridge(server, onMessage);
}
