/** SIP over TCP. */
import { connect, createServer } from 'node:net';
import { type ConnectionOptions, Connections } from './connections.ts';
import type { SipSocket } from './udp.ts';

/**
 * Listens on `address` and `port` (0 = any free one), and opens connections where none is open yet. Rejects when it
 * cannot listen.
 */
export async function openTcp(
  options: ConnectionOptions & { readonly address: string; readonly port: number },
): Promise<SipSocket> {
  const connections = new Connections({
    ...options,
    protocol: 'TCP',
    ready: 'connect',
    dial: ({ host, port }) => connect({ host, port }),
    reaches: () => true,
    onFailed: () => undefined,
  });
  const server = createServer((socket) => connections.enter(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', () => undefined);
  const bound = server.address();
  return {
    protocol: 'TCP',
    port: typeof bound === 'object' ? (bound?.port ?? 0) : 0,
    send: (text, destination) => connections.send(text, destination),
    has: (destination) => connections.has(destination),
    disconnect: (destination) => connections.disconnect(destination),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        connections.close();
      }),
  };
}
