/**
 * Limits the connections of the HTTP server, those of calls and readers included. A client that sends nothing, sends a
 * request byte by byte, or never reads an answer must not block a carrier: a new connection replaces the one that has
 * been idle longest, and is refused only when none is idle. Only connections with an admitted request are in use.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Descriptors } from '../../foundation/machine/descriptors.ts';
import type { Metrics } from '../../foundation/metrics.ts';

/** Least time between two warnings that all connections are in use. */
const WARN_EVERY_MS = 60_000;

/**
 * The share of the process's file descriptors that connections may take. The rest is for calls' other sockets, files
 * and engines.
 */
const DESCRIPTORS_SHARE = 0.5;

/**
 * The largest number of connections up to `wanted`. Without a free descriptor the system would refuse every new
 * connection, even a carrier's.
 */
export function connectionsThatFit(wanted: number, descriptors: Descriptors | null): number {
  return descriptors === null ? wanted : Math.min(wanted, Math.floor(descriptors.max * DESCRIPTORS_SHARE));
}

interface ConnectionsOptions {
  readonly max: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Keeps the connections of `app` within `max`. */
export function limitConnections(app: FastifyInstance, options: ConnectionsOptions): void {
  const connections = new Connections(options);
  app.server.on('connection', (socket: Socket) => connections.add(socket));
  app.server.on('secureConnection', (socket: Socket) => connections.secure(socket));
  // The request has been admitted when these hooks run. An upload is in use while it comes; any other incomplete
  // request is not, because its sender may delay it.
  app.addHook('preParsing', async ({ raw, routeOptions }, reply) => {
    if (routeOptions.config.upload === true) connections.holdFor(raw.socket, reply.raw);
  });
  app.addHook('preHandler', async ({ raw, ws, is404, routeOptions: { config } }, reply) => {
    if (ws) connections.hold(raw.socket);
    else if (!is404 && config.open !== true && config.upload !== true) connections.holdFor(raw.socket, reply.raw);
  });
}

/** Emits `close` when it ends. */
interface Closing {
  once(event: 'close', listener: () => void): unknown;
}

class Connections {
  readonly #options: ConnectionsOptions;
  /** Open connections with the number of their uses: answers in progress, a WebSocket. */
  readonly #open = new Map<Socket, number>();
  /** Those without TLS beneath, by their far end, until they have shown that they speak it. */
  readonly #bare = new Map<string, Socket>();
  /** What lies beneath a connection with TLS. */
  readonly #beneath = new WeakMap<Socket, Socket>();
  /** Connections without a use; the one that has been idle longest is first. */
  readonly #idle = new Set<Socket>();
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Adds a connection, or destroys it when all are in use. */
  add(socket: Socket): void {
    if (this.#open.size >= this.#options.max && !this.#closeIdle()) {
      this.#refuse(socket);
      return;
    }
    this.#open.set(socket, 0);
    this.#idle.add(socket);
    const end = endOf(socket);
    this.#bare.set(end, socket);
    socket.once('close', () => {
      if (this.#bare.get(end) === socket) this.#bare.delete(end);
      this.#forget(socket);
    });
    this.#count();
  }

  /** `socket` is a connection that was added, as it is read through TLS. */
  secure(socket: Socket): void {
    const beneath = this.#bare.get(endOf(socket));
    if (beneath !== undefined) this.#beneath.set(socket, beneath);
  }

  /** From now on no other connection replaces it. */
  hold(used: Socket): void {
    const socket = this.#beneath.get(used) ?? used;
    const uses = this.#open.get(socket);
    if (uses === undefined) return;
    this.#open.set(socket, uses + 1);
    this.#idle.delete(socket);
  }

  /** As {@link hold}, until `use` is closed. */
  holdFor(socket: Socket, use: Closing): void {
    this.hold(socket);
    use.once('close', () => this.#release(socket));
  }

  #release(used: Socket): void {
    const socket = this.#beneath.get(used) ?? used;
    const uses = this.#open.get(socket);
    if (uses === undefined) return;
    this.#open.set(socket, uses - 1);
    if (uses === 1) this.#idle.add(socket);
  }

  #closeIdle(): boolean {
    const [longest] = this.#idle;
    if (longest === undefined) return false;
    this.#forget(longest);
    longest.destroy();
    this.#options.metrics.connectionsClosed.inc({ reason: 'idle' });
    return true;
  }

  #refuse(socket: Socket): void {
    const { max, clock, log, metrics } = this.#options;
    // A reset, not an end: some clients wait forever for an answer if the connection ends before they send a request.
    socket.resetAndDestroy();
    metrics.connectionsClosed.inc({ reason: 'refused' });
    if (clock.nowMs() - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = clock.nowMs();
    log.warn({ connections: max }, 'new connections are refused: all allowed connections are in use (CONNECTIONS_MAX)');
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket);
    this.#idle.delete(socket);
    this.#count();
  }

  #count(): void {
    this.#options.metrics.connections.set(this.#open.size);
  }
}

function endOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
