/** A longer way to a server on this machine. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy on loopback before the server at `toPort`; what it takes waits `eachWayMs`, in order. */
export async function openSlowWay(
  toPort: number,
  eachWayMs: number,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(toPort, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), eachWayMs));
      from.on('end', () => setTimeout(() => to.end(), eachWayMs));
      from.on('error', () => to.destroy());
      from.on('close', () => open.delete(from));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
