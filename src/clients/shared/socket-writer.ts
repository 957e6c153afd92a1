/** Writes to a client's WebSocket no faster than it reads, and finds out when nobody is there any more. */
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { READER_STALL_MS } from '../../http/speech/streamed-body.ts';

/** A client that answers no ping by the next one is gone. */
const PING_EVERY_MS = 30_000;
/** Sound is sent piece by piece; answers may wait in such a number, beyond which nobody reads them. */
const UNSENT_MAX = 1024;

/** The way out of one socket. Ends by itself with the socket. */
export class SocketWriter {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #ping: Timer;
  #isAnswered = true;
  /** Messages that were not handed to the system. */
  #unsent = 0;

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on('pong', () => {
      this.#isAnswered = true;
    });
    this.#ping = clock.every(PING_EVERY_MS, () => this.#look(), true);
    socket.once('close', () => this.#ping.cancel());
  }

  /** Resolves when `data` was handed to the system, or the socket has ended. A client that reads nothing is dropped. */
  send(data: Uint8Array | string): Promise<void> {
    this.#unsent++;
    if (this.#unsent > UNSENT_MAX) this.#socket.terminate();
    const timer = this.#clock.after(READER_STALL_MS, () => this.#socket.terminate(), true);
    return new Promise((resolve) => {
      this.#socket.send(data, () => {
        timer.cancel();
        this.#unsent--;
        resolve();
      });
    });
  }

  #look(): void {
    if (this.#socket.isPaused) return;
    if (!this.#isAnswered) {
      this.#socket.terminate();
      return;
    }
    this.#isAnswered = false;
    this.#socket.ping();
  }
}
