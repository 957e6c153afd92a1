/**
 * How many connections the HTTP server has at once, calls' and readers' included. Whoever opens connections and says
 * nothing, sends a request byte by byte, or never reads an answer, must not keep a carrier out: a new connection takes
 * the place of the one that has been idle longest, and is refused only when none is idle. Only who has been let in is
 * in use.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Descriptors } from '../../foundation/machine/descriptors.ts';
import type { Metrics } from '../../foundation/metrics.ts';

/** Least time between two lines that say that all connections are taken. */
const WARN_EVERY_MS = 60_000;

/**
 * The share of the process's file descriptors that connections may take. The rest is for calls' other sockets, files
 * and engines.
 */
const DESCRIPTORS_SHARE = 0.5;

/**
 * How many of the connections `wanted` there can be; without a descriptor left, the system would refuse whoever comes
 * next, a carrier too.
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
  // By then whoever guards the route has let the request in. An upload is in use while it comes; what else has not come
  // in full is held back by who sends it.
  app.addHook('preParsing', async ({ raw, routeOptions }, reply) => {
    if (routeOptions.config.upload === true) connections.holdFor(raw.socket, reply.raw);
  });
  app.addHook('preHandler', async ({ raw, ws, is404, routeOptions: { config } }, reply) => {
    if (ws) connections.hold(raw.socket);
    else if (!is404 && config.open !== true && config.upload !== true) connections.holdFor(raw.socket, reply.raw);
  });
}

/** Something that says when it is over. */
interface Closing {
  once(event: 'close', listener: () => void): unknown;
}

class Connections {
  readonly #options: ConnectionsOptions;
  /** Each with what it is held for: answers that are being made, a WebSocket. */
  readonly #open = new Map<Socket, number>();
  /** Those held for nothing, the one that has been so for longest first. */
  readonly #idle = new Set<Socket>();
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Takes a connection in, or destroys it. */
  add(socket: Socket): void {
    if (this.#open.size >= this.#options.max && !this.#closeIdle()) {
      this.#refuse(socket);
      return;
    }
    this.#open.set(socket, 0);
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
    this.#count();
  }

  /** From now on it gives way to nobody. */
  hold(socket: Socket): void {
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

  #release(socket: Socket): void {
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
    // A reset, and not an end: some clients wait for ever for an answer behind an end that comes before they have
    // asked.
    socket.resetAndDestroy();
    metrics.connectionsClosed.inc({ reason: 'refused' });
    if (clock.nowMs() - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = clock.nowMs();
    log.warn({ connections: max }, 'new connections are refused: all that there may be are in use (CONNECTIONS_MAX)');
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
