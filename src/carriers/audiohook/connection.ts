/** One WebSocket of an AudioHook client, and the session that is spoken on it. */
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { WireMessage } from '../../protocols/dialect.ts';
import type { AudioHookSession } from './wire/session.ts';

/** How long the client may take to close. It waits for our `closed` for 5 s itself. */
const CLOSE_TIMEOUT_MS = 2000;
/** How long a client that goes on elsewhere may take to end the session that it leaves. */
const LEAVE_TIMEOUT_MS = 10_000;
const NORMAL_CLOSURE = 1000;

/** Whom a connection tells. */
export interface ConnectionOwner {
  onMessage(message: WireMessage): void;
  onSocketError(error: Error): void;
  /** Once, with the code of RFC 6455; nothing comes after it. */
  onSocketClosed(code: number): void;
}

interface ConnectionOptions {
  readonly socket: WebSocket;
  readonly session: AudioHookSession;
  readonly clock: Clock;
  readonly sendBufferMaxBytes: number;
}

/** The HTTP server limits its messages. */
export class AudioHookConnection {
  readonly session: AudioHookSession;
  readonly #options: ConnectionOptions;
  #owner: ConnectionOwner | null = null;
  #timer: Timer | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.session = options.session;
    const { socket } = options;
    // Our sockets keep the default binaryType of ws, so each message is one Buffer.
    socket.on('message', (data, isBinary) => this.#owner?.onMessage(isBinary ? (data as Buffer) : String(data)));
    socket.on('error', (error) => this.#owner?.onSocketError(error));
    socket.on('close', (code) => {
      this.#timer?.cancel();
      this.#owner?.onSocketClosed(code);
    });
  }

  /** From now on `owner` is told. */
  belongTo(owner: ConnectionOwner): void {
    this.#owner = owner;
  }

  /** Whether nothing of the client is read, so that TCP slows it down. */
  get isPaused(): boolean {
    return this.#options.socket.isPaused;
  }

  pause(): void {
    this.#options.socket.pause();
  }

  resume(): void {
    this.#options.socket.resume();
  }

  /** Sends a message, unless the socket is closing. A client that does not read is cut off. */
  write(message: string): void {
    const { socket, sendBufferMaxBytes } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(message, () => {});
    if (socket.bufferedAmount > sendBufferMaxBytes) socket.terminate();
  }

  /** Closes the socket if the client does not do so soon. */
  cutSoon(): void {
    const { socket, clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.after(CLOSE_TIMEOUT_MS, () => {
      socket.close(NORMAL_CLOSURE);
      this.#timer = clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
    });
  }

  /** The client goes on elsewhere: here it is only answered until it has ended the session. */
  leave(): void {
    const { socket, clock } = this.#options;
    this.#owner = { onMessage: (message) => this.#answer(message), onSocketError: ignore, onSocketClosed: ignore };
    this.resume();
    if (this.session.isClosing) {
      this.#end();
      return;
    }
    this.#timer?.cancel();
    this.#timer = clock.after(LEAVE_TIMEOUT_MS, () => socket.terminate());
  }

  #answer(message: WireMessage): void {
    const { isClosing } = this.session;
    try {
      for (const reply of this.session.receive(message).replies) this.write(reply);
    } catch {
      this.#options.socket.terminate();
      return;
    }
    if (!isClosing && this.session.isClosing) this.#end();
  }

  #end(): void {
    this.write(this.session.closed());
    this.cutSoon();
  }
}

function ignore(): void {
  // Nobody waits for it any more.
}
