/** An app's webhook server in the hand of the test: it answers TwiML, and keeps what it was asked. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request, its form read. */
export interface AskedFor {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly fields: Readonly<Record<string, string>>;
}

type Answer = string | ((response: ServerResponse) => void);

export class TestWebhook {
  readonly asked: AskedFor[] = [];
  /** What is answered by path, without its query; TwiML in full or its verbs. 404 where there is nothing. */
  readonly answers: Record<string, Answer> = {};
  readonly #server: Server;
  readonly #waiters = new Set<() => void>();

  constructor(server: Server) {
    this.#server = server;
    server.on('request', async (request, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = '', url: path = '', headers } = request;
      const fields = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      this.asked.push({ method, path, headers, fields });
      this.#answer(response, this.answers[path.split('?')[0] ?? '']);
      for (const wake of this.#waiters) wake();
      this.#waiters.clear();
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The paths asked for, in order. */
  get paths(): string[] {
    return this.asked.map(({ path }) => path);
  }

  /** Resolves with the latest request when there have been `count`. */
  async until(count: number): Promise<AskedFor> {
    while (this.asked.length < count) await new Promise<void>((resolve) => this.#waiters.add(resolve));
    const latest = this.asked[count - 1];
    if (latest === undefined) throw new Error('nobody has asked');
    return latest;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(response: ServerResponse, answer: Answer | undefined): void {
    if (answer === undefined) response.writeHead(404).end();
    else if (typeof answer === 'string') {
      response.setHeader('content-type', 'text/xml');
      response.end(
        answer.startsWith('<Response') || answer === ''
          ? answer
          : `<?xml version="1.0"?><Response>${answer}</Response>`,
      );
    } else answer(response);
  }
}

/** Starts one on a free port of this machine. */
export async function startWebhook(): Promise<TestWebhook> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new TestWebhook(server);
}
