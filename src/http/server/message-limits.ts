/**
 * How large a message a WebSocket may send. Most routes have one limit; a route that takes whole seconds of audio in
 * one message says so.
 */
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Largest message of this route's WebSockets, where that is more than MESSAGE_MAX_BYTES. A larger one closes the
     * socket (1009).
     */
    readonly messageMaxBytes?: number;
  }
}

/**
 * Gives the WebSockets of `app` their limits: `maxBytes`, or what their route says if that is more. ws has one
 * `maxPayload` for a server, which it reads when it completes a handshake, right behind its event `headers`.
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
