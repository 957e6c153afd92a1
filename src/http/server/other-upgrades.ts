/** Requests that offer an upgrade to another protocol than WebSocket. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/** Headers of the offer only. */
const OF_THE_OFFER = ['upgrade', 'http2-settings'];

/**
 * Ignores such offers to `app`, as a server may (RFC 9110 §7.8). Java's HttpClient and `curl --http2` offer HTTP/2
 * (h2c) with their first request, even one with a body. Node gives each upgrade to the WebSocket handler and reads no
 * body after it, so this puts the request back into its connection without the offer. Call it after all upgrade
 * handlers have been registered.
 */
export function passOverOtherUpgrades(app: FastifyInstance): void {
  const { server } = app;
  const takers = server.listeners('upgrade');
  server.removeAllListeners('upgrade');
  server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (/\bwebsocket\b/i.test(message.headers.upgrade ?? '')) {
      for (const take of takers) take.call(server, message, socket, head);
      return;
    }
    socket.unshift(Buffer.concat([Buffer.from(withoutOffer(message), 'latin1'), head]));
    server.emit('connection', socket);
  });
}

/** The original head of `message` without the offer. */
function withoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (OF_THE_OFFER.includes(name.toLowerCase())) continue;
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? connectionWithoutOffer(value) : value}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function connectionWithoutOffer(value: string): string {
  const options = value.split(',').map((option) => option.trim());
  return options.filter((option) => !OF_THE_OFFER.includes(option.toLowerCase())).join(', ') || 'keep-alive';
}
