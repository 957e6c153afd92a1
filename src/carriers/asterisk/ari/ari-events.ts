/**
 * The WebSocket on which Asterisk tells the events of our application. It is watched by pings, and connected again with
 * back-off until it is closed.
 */
import { WebSocket } from 'ws';
import { Backoff } from '../../../foundation/backoff.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import { type AriEvent, readAriEvent } from '../wire/ari.ts';
import { ariRemedy, NOTHING_ANSWERS } from '../wire/ari-remedies.ts';

const RETRIES = { firstMs: 250, longestMs: 10_000, healthyMs: 10_000 };
const HANDSHAKE_TIMEOUT_MS = 5000;
/** A ping must be answered before the next one is due. */
const PING_MS = 15_000;
/** A channel with many variables is told in one message. */
const EVENT_MAX_BYTES = 1_048_576;

interface AriEventsOptions {
  /** `ws://…/ari/events?app=…` */
  readonly url: string;
  readonly authorization: string;
  readonly clock: Clock;
  /** Connected, again or for the first time. Earlier events are not repeated. */
  onUp(): void;
  /** The connection broke or could not be opened; `reason` is for the log. */
  onDown(reason: string): void;
  onEvent(event: AriEvent): void;
  onMalformed(error: TrunklineError): void;
}

export class AriEvents {
  readonly #options: AriEventsOptions;
  #socket: WebSocket | null = null;
  #timer: Timer | null = null;
  #pings: Timer | null = null;
  readonly #backoff = new Backoff(RETRIES);
  #openedMs: number | null = null;
  #pongDue = false;
  #over = false;

  /** Connects at once. */
  constructor(options: AriEventsOptions) {
    this.#options = options;
    this.#connect();
  }

  /** Closes the connection and does not open it again. */
  close(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#pings?.cancel();
    this.#socket?.terminate();
  }

  #connect(): void {
    const { url, authorization } = this.#options;
    const socket = new WebSocket(url, {
      headers: { authorization },
      perMessageDeflate: false,
      maxPayload: EVENT_MAX_BYTES,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    this.#socket = socket;
    let reason = 'it closed the connection';
    socket.on('open', () => this.#onOpen(socket));
    socket.on('message', (data: Buffer) => this.#onMessage(data.toString()));
    socket.on('pong', () => {
      this.#pongDue = false;
    });
    // Every error is followed by 'close'.
    socket.on('error', (error) => {
      reason = reasonOf(error);
    });
    socket.on('close', () => this.#onClosed(reason));
  }

  #onOpen(socket: WebSocket): void {
    if (this.#over) return;
    const { clock, onUp } = this.#options;
    this.#openedMs = clock.nowMs();
    this.#pongDue = false;
    this.#pings = clock.every(PING_MS, () => this.#ping(socket), true);
    onUp();
  }

  #onMessage(text: string): void {
    if (this.#over) return;
    try {
      this.#options.onEvent(readAriEvent(text));
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      this.#options.onMalformed(error);
    }
  }

  #ping(socket: WebSocket): void {
    if (this.#pongDue) {
      socket.terminate();
      return;
    }
    this.#pongDue = true;
    socket.ping();
  }

  #onClosed(reason: string): void {
    this.#pings?.cancel();
    if (this.#over) return;
    const { clock, onDown } = this.#options;
    const healthyForMs = this.#openedMs === null ? 0 : clock.nowMs() - this.#openedMs;
    this.#openedMs = null;
    onDown(reason);
    this.#timer = clock.after(this.#backoff.next(healthyForMs), () => this.#connect());
  }
}

/** With what helps, where that is known. */
function reasonOf(error: NodeJS.ErrnoException): string {
  // A name with several addresses fails with an error for each, and no words of its own.
  const said = error.message || error.code || 'Asterisk could not be reached';
  const [, status] = /^Unexpected server response: (\d{3})$/.exec(said) ?? [];
  const remedy = error.code === 'ECONNREFUSED' ? NOTHING_ANSWERS : ariRemedy(Number(status));
  return remedy === null ? said : `${said}: ${remedy}`;
}
