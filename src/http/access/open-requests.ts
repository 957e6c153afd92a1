import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../foundation/clock.ts';

/** How soon a feed ends after the rights of its reader have. */
const LOOK_MS = 2000;
/** How long a WebSocket may take to answer our close. */
const CLOSE_GRACE_MS = 1000;
/** As `api_key_missing` has it. */
const CLOSE_CODE = 4001;

interface OpenRequest {
  readonly isAllowed: () => boolean;
  /** A WebSocket, or an answer that has begun: it ends at once. */
  readonly isStream: () => boolean;
  readonly end: () => void;
  /** Was found not allowed before its answer began. */
  isOver: boolean;
}

/**
 * The requests in progress with what allowed them. One that is allowed no longer is ended: a feed or a WebSocket must
 * not go on after its user has signed out or was removed.
 */
export class OpenRequests {
  readonly #clock: Clock;
  readonly #open = new Set<OpenRequest>();
  readonly #sockets = new WeakMap<IncomingMessage, WebSocket>();
  readonly #timer: Timer;

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
    this.#timer = clock.every(LOOK_MS, () => this.#endAll(), true);
  }

  /** Says which WebSocket came of the request `raw`. */
  attach(raw: IncomingMessage, socket: WebSocket): void {
    this.#sockets.set(raw, socket);
  }

  /** Ends the request as soon as `isAllowed` is false. */
  watch({ raw, ws }: FastifyRequest, reply: FastifyReply, isAllowed: () => boolean): void {
    const open: OpenRequest = {
      isAllowed,
      isStream: () => ws || reply.raw.headersSent,
      end: () => (ws ? this.#endSocket(raw) : reply.raw.destroy()),
      isOver: false,
    };
    this.#open.add(open);
    const forget = () => this.#open.delete(open);
    if (ws) raw.socket.once('close', forget);
    else reply.raw.once('close', forget);
  }

  /** Calls `end`, once, as soon as `isAllowed` is false: for what a request began and left. Returns what forgets it. */
  hold(isAllowed: () => boolean, end: () => void): () => void {
    const open: OpenRequest = { isAllowed, isStream: () => true, end, isOver: false };
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  /**
   * Ends feeds and WebSockets that are allowed no longer. Other requests may be the very ones that changed their user,
   * or added the first: they have some seconds to be answered.
   */
  look(): void {
    for (const open of [...this.#open]) if (open.isStream() && !open.isAllowed()) this.#end(open);
  }

  #endAll(): void {
    this.look();
    for (const open of [...this.#open]) {
      if (open.isOver) this.#end(open);
      else open.isOver = !open.isAllowed();
    }
  }

  #end(open: OpenRequest): void {
    this.#open.delete(open);
    open.end();
  }

  close(): void {
    this.#timer.cancel();
  }

  #endSocket(raw: IncomingMessage): void {
    const socket = this.#sockets.get(raw);
    if (socket === undefined) {
      raw.socket.destroy();
      return;
    }
    socket.close(CLOSE_CODE, 'signed_out');
    const timer = this.#clock.after(CLOSE_GRACE_MS, () => socket.terminate(), true);
    socket.once('close', () => timer.cancel());
  }
}
