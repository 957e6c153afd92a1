/** A reverse proxy that was given nothing but an address to pass requests on to. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Headers that nginx 1.22 does not pass on. */
const HOP_BY_HOP = /^(host|connection|keep-alive|transfer-encoding|te|expect|upgrade|proxy-connection):/i;

/**
 * How requests are passed on, byte for byte as nginx 1.22 was seen to do it. `default`: `proxy_pass` alone. `sockets`:
 * with the three lines that are commonly written for WebSockets (HTTP/1.1, `Upgrade` of the request, `Connection:
 * upgrade`).
 */
export type ProxyStyle = 'default' | 'sockets';

export interface PlainProxy {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

/** Passes every connection's first request on to `upstream` (`http://host:port`), and all bytes after it both ways. */
export async function startPlainProxy(upstream: string, style: ProxyStyle = 'default'): Promise<PlainProxy> {
  const { hostname, port, host } = new URL(upstream);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(Number(port), hostname);
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    let head = '';
    client.on('data', function readHead(chunk: Buffer) {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      client.off('data', readHead);
      behind.write(rewrite(head.slice(0, end), host, style) + head.slice(end + 4), 'latin1');
      client.pipe(behind).pipe(client);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function rewrite(head: string, host: string, style: ProxyStyle): string {
  const [requestLine = '', ...fields] = head.split('\r\n');
  const kept = fields.filter((field) => !HOP_BY_HOP.test(field));
  if (style === 'default') {
    const line = requestLine.replace(/HTTP\/1\.1$/, 'HTTP/1.0');
    return `${[line, `Host: ${host}`, 'Connection: close', ...kept].join('\r\n')}\r\n\r\n`;
  }
  const upgrade = fields.filter((field) => /^upgrade:/i.test(field));
  return `${[requestLine, ...upgrade, 'Connection: upgrade', `Host: ${host}`, ...kept].join('\r\n')}\r\n\r\n`;
}
