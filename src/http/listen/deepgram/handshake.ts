/** What all routes for Deepgram's clients answer with: the id of the request under Deepgram's name. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for clients of Deepgram: errors have its shape, and answers name their request as it does. */
    readonly deepgram?: true;
  }
}

/** Deepgram's SDKs show it in their errors. */
const REQUEST_ID_HEADER = 'dg-request-id';

/** Adds the id of the request to the answers of Deepgram's routes, those of WebSocket handshakes included. */
export function nameDeepgramRequests(app: FastifyInstance): void {
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
