/** What is done with each request and WebSocket, whatever its route. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { closeDrained } from './drain-codes.ts';

/** The server drops a request that takes longer to arrive; uploads have UPLOAD_TIMEOUT_MS. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** The server ends WebSockets that have not answered its close by then. */
const CLOSE_GRACE_MS = 1000;

/**
 * Node has one limit for all requests, which is that of uploads. The request of a WebSocket has no body and emits no
 * `close`.
 */
export function limitArrival(app: FastifyInstance, clock: Clock): void {
  app.addHook('onRequest', async ({ raw, routeOptions, ws }) => {
    if (ws || routeOptions.config.upload === true) return;
    const timer = clock.after(REQUEST_TIMEOUT_MS, () => !raw.complete && raw.destroy(), true);
    raw.once('close', () => timer.cancel());
  });
}

/** Logs paths without their query, and no body: those may hold phone numbers and keys. */
export function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', async (request: FastifyRequest, reply) => {
    const route = request.routeOptions.url ?? 'none';
    log.debug(
      { method: request.method, route, status: reply.statusCode, durationMs: reply.elapsedTime, requestId: request.id },
      'request',
    );
  });
}

/** Asks every WebSocket to close, then ends those that do not. */
export function closeSocketsOn(clock: Clock) {
  return function closeSockets(this: FastifyInstance, done: () => void): void {
    const server = this.websocketServer;
    for (const socket of server.clients) closeDrained(socket);
    const timer = clock.after(CLOSE_GRACE_MS, () => {
      for (const socket of server.clients) socket.terminate();
    });
    server.close(() => timer.cancel());
    done();
  };
}
