/** What all routes for Deepgram's clients answer with: the id of the request under Deepgram's name, and its errors. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TrunklineError } from '../../foundation/errors.ts';
import type { Refusal } from '../../http/server/errors.ts';
import { deepgramError, errorHeader, toDeepgramError } from './wire/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for clients of Deepgram: errors have its shape, and answers name their request as it does. */
    readonly deepgram?: true;
  }
}

/** Deepgram's SDKs show it in their errors. */
const REQUEST_ID_HEADER = 'dg-request-id';

/** When a request that was refused because there is no room may come again, in seconds. */
const RETRY_SECONDS = '2';

/**
 * Adds the id of the request to the answers of Deepgram's routes, those of WebSocket handshakes included, and gives
 * their errors Deepgram's shape. To be called before they are opened.
 */
export function nameDeepgramRequests(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.deepgram !== true) return;
    route.config = { ...route.config, refusal: refuseAsDeepgram, errorBody: deepgramError };
  });
  const ids = new WeakMap<IncomingMessage, string>();
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.deepgram !== true) return;
    ids.set(request.raw, request.id);
    reply.header(REQUEST_ID_HEADER, request.id);
  });
  app.websocketServer.on('headers', (headers, message) => {
    const id = ids.get(message);
    if (id !== undefined) headers.push(`${REQUEST_ID_HEADER}: ${id}`);
  });
}

/** Deepgram's SDKs send a request again that was refused with 503: they are told when. */
function refuseAsDeepgram(failure: TrunklineError, { id }: FastifyRequest): Refusal {
  const retry = failure.status === 503 ? { 'retry-after': RETRY_SECONDS } : {};
  return {
    headers: { [REQUEST_ID_HEADER]: id, 'dg-error': errorHeader(failure), ...retry },
    body: toDeepgramError(failure, id),
  };
}
