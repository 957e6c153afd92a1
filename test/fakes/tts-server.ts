/** A server with OpenAI's speech, which misbehaves as it is told to. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Answers a request for speech. */
type SpeechBehaviour = (response: ServerResponse, order: Readonly<Record<string, unknown>>) => void;

/** Listens on a free port of this machine from {@link listen} on. */
export class TtsServer {
  behave: SpeechBehaviour = (response) => response.end();
  readonly ordered: Readonly<Record<string, unknown>>[] = [];
  readonly paths: string[] = [];
  /** Requests whose connection was closed before the whole answer was sent. */
  givenUp = 0;
  readonly #server: Server = createServer((request, response) => void this.#take(request, response));

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.givenUp++;
    });
    const order = (await json(request)) as Readonly<Record<string, unknown>>;
    this.paths.push(request.url ?? '');
    this.ordered.push(order);
    this.behave(response, order);
  }
}
