/**
 * Limits the messages that WebSockets receive. Most routes have the same limit; a route that accepts seconds of audio
 * in one message declares a larger one.
 */
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Largest message of this route's WebSockets, if it is more than MESSAGE_MAX_BYTES. A larger one closes the
     * socket (1009).
     */
    readonly messageMaxBytes?: number;
  }
}

/**
 * Limits the WebSockets of `app` to `maxBytes`, or to their route's limit if that is larger. ws has one `maxPayload`
 * for a server, and reads it at the end of a handshake, directly after its event `headers`.
 */
export function limitMessages(app: FastifyInstance, maxBytes: number): void {
  const limits = new WeakMap<object, number>();
  app.addHook('onRequest', async ({ raw, routeOptions, ws }) => {
    if (ws) limits.set(raw, Math.max(routeOptions.config.messageMaxBytes ?? 0, maxBytes));
  });
  const server = app.websocketServer;
  server.on('headers', (_headers, message) => {
    server.options.maxPayload = limits.get(message) ?? maxBytes;
  });
}
