import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../src/foundation/clock.ts';

/** What an app said while a call went on, and what it was told. */
export interface AppCall {
  /** When the caller's speech stopped what was said, by the system clock. */
  readonly interruptsMs: number[];
  /** What the caller said, as the app got it. */
  readonly prompts: string[];
}

/** An app that talks all the time: whatever comes, it goes on with the same text. */
export class TalkingApp {
  readonly #server: WebSocketServer;
  readonly #calls = new Map<string, AppCall>();

  private constructor(server: WebSocketServer, text: string, times: number) {
    this.#server = server;
    server.on('connection', (socket) => {
      const call: AppCall = { interruptsMs: [], prompts: [] };
      const talk = (): void => socket.send(JSON.stringify({ type: 'text', token: text, last: true }));
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Readonly<Record<string, unknown>>;
        if (frame['type'] === 'setup') {
          this.#calls.set(String(frame['callSid']), call);
          for (let time = 0; time < times; time++) talk();
        }
        if (frame['type'] === 'interrupt') call.interruptsMs.push(systemClock.nowMs());
        if (frame['type'] !== 'prompt' || frame['last'] !== true) return;
        call.prompts.push(String(frame['voicePrompt']));
        talk();
      });
    });
  }

  /** Listens on a free port of this machine; says `text` so many times at the beginning of a call. */
  static async open(text: string, times: number): Promise<TalkingApp> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    return new TalkingApp(server, text, times);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** What became of a call. */
  of(callSid: string): AppCall {
    return this.#calls.get(callSid) ?? { interruptsMs: [], prompts: [] };
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
