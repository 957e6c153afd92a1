import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../src/foundation/clock.ts';

/** What an app was told that a caller had said, and when, by the system clock. */
export interface HeardPrompt {
  readonly text: string;
  readonly atMs: number;
}

/** An app for many calls at once, which only listens. */
export class ListeningApp {
  readonly #server: WebSocketServer;
  readonly #prompts = new Map<string, HeardPrompt[]>();
  readonly #interrupts = new Map<string, number>();
  readonly #closed = new Map<string, Promise<unknown>>();

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket) => {
      const prompts: HeardPrompt[] = [];
      let callSid = '';
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Readonly<Record<string, unknown>>;
        if (frame['type'] === 'setup') {
          callSid = String(frame['callSid']);
          this.#prompts.set(callSid, prompts);
          this.#closed.set(callSid, once(socket, 'close'));
        }
        if (frame['type'] === 'interrupt') this.#interrupts.set(callSid, this.interruptsOf(callSid) + 1);
        if (frame['type'] === 'prompt' && frame['last'] === true)
          prompts.push({ text: String(frame['voicePrompt']), atMs: systemClock.nowMs() });
      });
    });
  }

  /** Listens on a free port of this machine. */
  static async open(): Promise<ListeningApp> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    return new ListeningApp(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Resolves when the app has been told all of a call that is over. */
  async told(callSid: string): Promise<void> {
    await this.#closed.get(callSid);
  }

  /** The prompts of a call so far, in order. */
  promptsOf(callSid: string): readonly HeardPrompt[] {
    return this.#prompts.get(callSid) ?? [];
  }

  /** How often the caller has interrupted what was said. */
  interruptsOf(callSid: string): number {
    return this.#interrupts.get(callSid) ?? 0;
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
