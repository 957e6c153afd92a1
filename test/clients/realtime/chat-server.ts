/** A chat endpoint that answers as the test says. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly messages: readonly Record<string, unknown>[];
  readonly tools?: readonly unknown[];
  readonly stream: boolean;
}

export class ChatServer {
  readonly asked: Asked[] = [];
  /** Deltas of the next answers, in order; `null` = one that has no end, `nothing` = one that never begins. */
  readonly answers: (readonly object[] | null | 'nothing')[] = [];
  status = 200;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<ChatServer> {
    const server = createServer();
    const chat = new ChatServer(server);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      chat.asked.push(JSON.parse(Buffer.concat(chunks).toString()) as Asked);
      chat.#answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return chat;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(response: ServerResponse): void {
    response.writeHead(this.status, { 'content-type': 'text/event-stream' });
    if (this.status !== 200) {
      response.end();
      return;
    }
    const deltas = this.answers.shift();
    if (deltas === 'nothing') return;
    for (const delta of deltas ?? [{ content: 'One moment. And' }])
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    if (deltas !== null) response.end('data: [DONE]\n\n');
  }
}
