import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';

interface CloseFrame {
  readonly code: number;
  readonly reason: string;
}

/** The server's end of a carrier's WebSocket, with the carrier in the hand of the test. It answers a close at once. */
export class CarrierSocket extends EventEmitter {
  /** The close frame that the carrier got from us. */
  closedWith: CloseFrame | null = null;
  /** What the carrier got from us, in order. */
  readonly sent: string[] = [];
  isPaused = false;
  readonly bufferedAmount = 0;
  #open = true;

  /** As what `ws` would hand out. */
  get asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }

  /** The carrier says something. */
  receive(message: object): void {
    if (this.#open) this.emit('message', Buffer.from(JSON.stringify(message)), false);
  }

  /** The carrier closes; 1006 = the connection breaks. */
  hangUp(code = 1000): void {
    if (!this.#open) return;
    this.#open = false;
    this.emit('close', code, Buffer.alloc(0));
  }

  send(message: string): void {
    if (this.#open) this.sent.push(message);
  }

  close(code: number, reason: string): void {
    this.closedWith ??= { code, reason };
    queueMicrotask(() => this.hangUp(code));
  }

  terminate(): void {
    this.hangUp(1006);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }
}
