/** What carries a phone's SIP: UDP, or TLS, where one connection to each peer is used in both directions. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';

/** Where a message goes, or came from. */
export interface Peer {
  readonly address: string;
  readonly port: number;
}

/** A socket that carries messages. */
export interface PhoneSocket {
  readonly protocol: 'UDP' | 'TLS';
  readonly port: number;
  send(text: string, to: Peer): void;
  close(): Promise<void>;
}

/** What a phone with TLS has, in PEM. */
export interface PhoneTls {
  /** Whose signature it wants to see; left out = nobody's. */
  readonly ca?: string;
  /** Its own; with it the phone can be called. */
  readonly cert?: string;
  readonly key?: string;
}

/** Who is told what a socket gets. */
export interface SocketEvents {
  onMessage(text: string, from: Peer): void;
  /** The connection to `peer` is gone, or was never made; `code` as Node has it, such as `ECONNREFUSED`. */
  onLost(peer: Peer, code: string): void;
}

/** UDP on any free port. */
export async function openUdpSocket(
  address: string,
  { onMessage }: Pick<SocketEvents, 'onMessage'>,
): Promise<PhoneSocket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  socket.on('message', (datagram, from) => onMessage(datagram.toString(), { address: from.address, port: from.port }));
  socket.on('error', () => undefined);
  return {
    protocol: 'UDP',
    port: socket.address().port,
    send: (text, { address: to, port }) => socket.send(text, port, to, () => undefined),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** TLS on any free port; without a certificate of its own the phone only calls, and its port is 0. */
export async function openTlsSocket(address: string, tls: PhoneTls, events: SocketEvents): Promise<PhoneSocket> {
  const open = new Map<string, TLSSocket>();
  const keep = (socket: TLSSocket, peer: Peer): void => {
    let held = '';
    open.set(keyOf(peer), socket);
    let code = 'ECONNRESET';
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code ?? code;
    });
    socket.on('close', () => {
      open.delete(keyOf(peer));
      events.onLost(peer, code);
    });
    socket.on('data', (bytes) => {
      held += bytes.toString('latin1');
      for (let length = lengthOf(held); length !== null; length = lengthOf(held)) {
        events.onMessage(held.slice(0, length), peer);
        held = held.slice(length);
      }
    });
  };
  const server = tls.cert === undefined ? null : createServer(tls, (socket) => keep(socket, farEnd(socket)));
  if (server !== null) await once(server.listen(0, address), 'listening');
  const bound = server?.address() ?? null;
  return {
    protocol: 'TLS',
    port: typeof bound === 'object' ? (bound?.port ?? 0) : 0,
    send: (text, to) => {
      const known = open.get(keyOf(to));
      const socket =
        known ?? connect({ ...tls, host: to.address, port: to.port, rejectUnauthorized: tls.ca !== undefined });
      if (known === undefined) keep(socket, to);
      socket.write(text);
    },
    close: async () => {
      for (const socket of open.values()) socket.destroy();
      if (server !== null) await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function farEnd({ remoteAddress = '', remotePort = 0 }: TLSSocket): Peer {
  return { address: remoteAddress, port: remotePort };
}

function keyOf({ address, port }: Peer): string {
  return `${address} ${port}`;
}

/** Of the message that `held` begins with; null = it is not there as a whole. */
function lengthOf(held: string): number | null {
  const end = held.indexOf('\r\n\r\n');
  const [, body = '0'] = /^content-length: *(\d+)/im.exec(held.slice(0, Math.max(end, 0))) ?? [];
  const length = end + 4 + Number(body);
  return end < 0 || held.length < length ? null : length;
}
