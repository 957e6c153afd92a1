/** Requests that offer to go on in another protocol than WebSocket. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/** Headers that are about the offer alone. */
const OF_THE_OFFER = ['upgrade', 'http2-settings'];

/**
 * Passes over such offers to `app`, as a server may (RFC 9110 §7.8): Java's HttpClient and `curl --http2` make one for
 * HTTP/2 (h2c) with their first request, body and all. Node hands each upgrade to whoever takes WebSockets and reads no
 * body behind it, so the request is put back into its connection without the offer. Call it when all that takes
 * upgrades has been registered.
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

/** The head of `message` as it came, without the offer. */
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
