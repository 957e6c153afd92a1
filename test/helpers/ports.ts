import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A TCP port of this machine that nobody has at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Below the ports that Linux hands out by itself, and above those of well-known services. */
const UDP_FIRST = 10_000;
const UDP_LAST = 32_000;
const TRIES = 20;

/**
 * UDP ports of this machine, `count` in a row from an even one, that nobody has at the moment. @throws Error when there
 * are none.
 */
export async function freeUdpPorts(count: number): Promise<{ first: number; last: number }> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const first = 2 * randomInt(UDP_FIRST / 2, (UDP_LAST - count) / 2);
    const sockets: Socket[] = [];
    try {
      for (let port = first; port < first + count; port++) sockets.push(await bindUdp(port));
      return { first, last: first + count - 1 };
    } catch {
      // Somebody has one of them.
    } finally {
      await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
    }
  }
  throw new Error(`no ${count} UDP ports in a row are free`);
}

/**
 * A port that nobody has over UDP or TCP, for SIP, which listens on both. One that the system hands out for UDP may be
 * a TCP connection's of another test. @throws Error when there is none.
 */
export async function freeSipPort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { first: port } = await freeUdpPorts(2);
    const server = createServer();
    try {
      server.listen({ port, host: '127.0.0.1', exclusive: true });
      await once(server, 'listening');
      return port;
    } catch {
      // A connection has it.
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }
  throw new Error('no port is free for both UDP and TCP');
}

async function bindUdp(port: number): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind({ port, address: '127.0.0.1', exclusive: true });
  await once(socket, 'listening');
  return socket;
}
