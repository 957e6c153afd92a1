/**
 * The connection to one call's app: a WebSocket that pings watch. A lost one is opened again with back-off, and given
 * up in the end. Frames that the app misses meanwhile are kept, within limits, and sent when it is back.
 */

import type { LookupFunction } from 'node:net';
import { WebSocket } from 'ws';
import { Backoff } from '../../foundation/backoff.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { FrameToApp } from './frames.ts';

const RETRIES = { firstMs: 250, longestMs: 4000 };
/** A connection that lasted this long was healthy: its loss begins a new series of attempts. */
const STABLE_MS = 10_000;
/** A connection is cut if the app has not answered a ping when the next is due. */
const PING_MS = 15_000;
/** How long the app may take to answer our close. */
const CLOSE_TIMEOUT_MS = 2000;
/** Frames kept while the app is disconnected; beyond this number the oldest are dropped. */
const KEPT_MAX = 32;
/** RFC 6455 §7.4.1: an app that closes with 1000, or without a code (1005), has finished. Other codes mean a loss. */
const FINISHED_CODES = [1000, 1005];

/** How a connection went, for the counter. */
export type ConnectionOutcome = 'connected' | 'refused' | 'lost' | 'finished' | 'gone';
/** Length limit for the message of an error that has no code. The WebSocket library wrote it, not the app. */
const REASON_MAX_CHARS = 100;

/** What a connection calls. */
export interface ConnectionHandlers {
  /** The first frame of every connection. */
  setup(): FrameToApp;
  /** One message; null = it was binary. */
  onMessage(message: string | null): void;
  /** The app has read everything that was sent before {@link AppConnection.fence}. */
  onFence(): void;
  /** The connection broke and will be opened again. */
  onLost(): void;
  /** The app closed the connection because it has finished. No other handler is called after this one. */
  onFinished(): void;
  /**
   * The app cannot be reached any more. No other handler is called after this one. `reason` as in
   * {@link ConnectionHandlers.onOutcome}.
   */
  onGone(reason: string | null): void;
  /**
   * `reason` = why it was refused or lost: the code of an error such as ECONNREFUSED, a close code, or a few words.
   * Null for other outcomes.
   */
  onOutcome(outcome: ConnectionOutcome, reason: string | null): void;
}

/** The limits of a connection. */
export interface ConnectionLimits {
  readonly connectTimeoutMs: number;
  /** How long a series of attempts may last. */
  readonly reconnectMs: number;
  readonly messageMaxBytes: number;
  /** Most bytes that may wait to be sent. */
  readonly sendBufferMaxBytes: number;
}

interface ConnectionOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: ConnectionLimits;
  /** Resolves the host name, and refuses private addresses. The caller checks literal addresses itself. */
  readonly lookup?: LookupFunction | undefined;
  readonly clock: Clock;
  readonly handlers: ConnectionHandlers;
}

export class AppConnection {
  readonly #options: ConnectionOptions;
  #socket: WebSocket | null = null;
  /** Null = a fence. */
  #kept: (FrameToApp | null)[] = [];
  /** When the current series of attempts began; null = the connection is healthy. */
  #troubleSinceMs: number | null;
  readonly #backoff = new Backoff(RETRIES);
  /** Fires when it is time to connect again, or when the connection has lasted long enough to be healthy. */
  #timer: Timer | null = null;
  #pings: Timer | null = null;
  #pongDue = false;
  #reading = true;
  #over = false;
  /** Why the latest attempt or connection failed. */
  #reason: string | null = null;

  /** Dials at once. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#troubleSinceMs = options.clock.nowMs();
    this.#dial();
  }

  /** Sends a frame, or keeps it until the app is connected again. */
  send(frame: FrameToApp): void {
    if (this.#over) return;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#transmit(this.#socket, frame);
    else this.#keep(frame);
  }

  /** Sends a frame that only matters now. It is dropped if the app is disconnected or reads too slowly. */
  sendNow(frame: FrameToApp): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > this.#options.limits.sendBufferMaxBytes / 4)
      return;
    this.#transmit(socket, frame);
  }

  /**
   * Pings the app, when it is there, to learn when it has read everything sent so far: `onFence` follows, unless the
   * connection breaks.
   */
  fence(): void {
    if (this.#over) return;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.ping('fence');
    else this.#keep(null);
  }

  /** Stops reading, so that TCP slows the app down. Messages that were already read are still delivered. */
  pause(): void {
    this.#reading = false;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.pause();
  }

  /** Reads again. */
  resume(): void {
    this.#reading = true;
    this.#socket?.resume();
  }

  /** Ends it for good; no handler is called any more. */
  close(code: number, reason: string): void {
    if (this.#over) return;
    this.#settle();
    const socket = this.#socket;
    if (socket === null) return;
    if (socket.readyState === WebSocket.OPEN) this.#closeSocket(socket, code, reason);
    else socket.terminate();
  }

  #closeSocket(socket: WebSocket, code: number, reason: string): void {
    const timer = this.#options.clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
    socket.on('close', () => timer.cancel());
    // A paused socket would not see the app's answer.
    socket.resume();
    socket.close(code, reason);
  }

  #dial(): void {
    const { url, headers, limits, lookup } = this.#options;
    const socket = new WebSocket(url, {
      headers,
      ...(lookup === undefined ? {} : { lookup }),
      perMessageDeflate: false,
      maxPayload: limits.messageMaxBytes,
      handshakeTimeout: limits.connectTimeoutMs,
    });
    this.#socket = socket;
    let wasOpen = false;
    socket.on('open', () => {
      wasOpen = true;
      this.#onOpen(socket);
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (!this.#over) this.#options.handlers.onMessage(isBinary ? null : data.toString());
    });
    socket.on('pong', (data) => this.#onPong(data.toString()));
    let failure: string | null = null;
    // Every error is followed by 'close'.
    socket.on('error', (error) => {
      failure = reasonOf(error);
    });
    socket.on('close', (code) => this.#onClosed(code, wasOpen, failure));
  }

  #onOpen(socket: WebSocket): void {
    if (this.#over) return;
    const { clock, handlers } = this.#options;
    handlers.onOutcome('connected', null);
    if (!this.#reading) socket.pause();
    this.#pongDue = false;
    this.#pings = clock.every(PING_MS, () => this.#ping(socket), true);
    this.#timer = clock.after(STABLE_MS, () => this.#forgetTrouble(), true);
    this.#transmit(socket, handlers.setup());
    for (const frame of this.#kept.splice(0)) {
      if (frame === null) socket.ping('fence');
      else this.#transmit(socket, frame);
    }
  }

  #forgetTrouble(): void {
    this.#troubleSinceMs = null;
    this.#backoff.restart();
  }

  #onPong(data: string): void {
    this.#pongDue = false;
    if (data === 'fence' && !this.#over) this.#options.handlers.onFence();
  }

  /** A missing pong counts only while we read, because otherwise we cannot receive it. */
  #ping(socket: WebSocket): void {
    if (this.#pongDue && this.#reading) {
      socket.terminate();
      return;
    }
    this.#pongDue = true;
    socket.ping();
  }

  #transmit(socket: WebSocket, frame: FrameToApp): void {
    // An app that does not read is treated like one that is disconnected.
    if (socket.bufferedAmount > this.#options.limits.sendBufferMaxBytes) socket.terminate();
    // Errors while sending lead to the socket's 'close'.
    else socket.send(JSON.stringify(frame), () => undefined);
  }

  #keep(frame: FrameToApp | null): void {
    this.#kept.push(frame);
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
  }

  #onClosed(code: number, wasOpen: boolean, failure: string | null): void {
    this.#timer?.cancel();
    this.#pings?.cancel();
    if (this.#over) return;
    const { handlers } = this.#options;
    if (wasOpen && FINISHED_CODES.includes(code)) {
      this.#settle();
      handlers.onOutcome('finished', null);
      handlers.onFinished();
      return;
    }
    this.#reason = failure ?? `closed with ${code}`;
    handlers.onOutcome(wasOpen ? 'lost' : 'refused', this.#reason);
    if (wasOpen) handlers.onLost();
    this.#dialLater();
  }

  #dialLater(): void {
    const { clock, limits, handlers } = this.#options;
    const nowMs = clock.nowMs();
    this.#troubleSinceMs ??= nowMs;
    const delayMs = this.#backoff.next();
    if (nowMs + delayMs > this.#troubleSinceMs + limits.reconnectMs) {
      this.#settle();
      handlers.onOutcome('gone', null);
      handlers.onGone(this.#reason);
      return;
    }
    this.#timer = clock.after(delayMs, () => this.#dial());
  }

  #settle(): void {
    this.#over = true;
    this.#kept = [];
    this.#timer?.cancel();
    this.#pings?.cancel();
  }
}

/** The code of a network or TLS error; for other errors the beginning of the message. */
export function reasonOf(error: Error & { readonly code?: unknown }): string {
  return typeof error.code === 'string' ? error.code : error.message.slice(0, REASON_MAX_CHARS);
}
