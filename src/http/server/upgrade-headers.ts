/** Headers of the answer to a WebSocket's handshake, which fastify does not write. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const headersOf = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();

/** Has the handshake of `request` answered with these headers too. To be called before its socket is open. */
export function answerUpgradeWith({ raw }: FastifyRequest, headers: Readonly<Record<string, string>>): void {
  headersOf.set(raw, { ...headersOf.get(raw), ...headers });
}

/** Sends them, for all WebSockets of `app`. */
export function sendUpgradeHeaders(app: FastifyInstance): void {
  app.websocketServer.on('headers', (lines, message) => {
    for (const [name, value] of Object.entries(headersOf.get(message) ?? {})) lines.push(`${name}: ${value}`);
  });
}
