/** A chat endpoint in the hand of the test. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request, as far as tests look at it. */
export interface Asked {
  readonly authorization: string | undefined;
  readonly model: string;
  /** What the model is told to do. */
  readonly order: string;
  readonly shown: string[];
  readonly said: { speaker: string; text: string }[];
}

type Reply = string | ((response: ServerResponse) => void);

export class ChatServer {
  readonly asked: Asked[] = [];
  /** What the model writes, or what is done with the response. */
  reply: Reply = '{}';
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
    server.on('request', async (request, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { model, messages } = JSON.parse(Buffer.concat(chunks).toString()) as {
        model: string;
        messages: { content: string }[];
      };
      const { shown, said } = JSON.parse(messages[1]?.content ?? '') as Pick<Asked, 'shown' | 'said'>;
      const { authorization } = request.headers;
      this.asked.push({ authorization, model, order: messages[0]?.content ?? '', shown, said });
      answer(response, this.reply);
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function answer(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') reply(response);
  else response.end(JSON.stringify({ choices: [{ message: { content: reply } }] }));
}

/** Starts one on a free port of this machine. */
export async function startChatServer(): Promise<ChatServer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new ChatServer(server);
}
