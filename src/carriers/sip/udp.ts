/** SIP over UDP: one message a datagram. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';
import type { SipDestination } from './wire/uris.ts';
import type { SipSource, SipTransport } from './wire/via.ts';

/** Takes a message and its source. Must not throw. */
export type SipListener = (bytes: Buffer, source: SipSource) => void;

/** A socket that carries SIP messages. */
export interface SipSocket {
  readonly protocol: SipTransport;
  /** Where it listens. */
  readonly port: number;
  /** Sends a message to an address. Rejects when it cannot. */
  send(text: string, destination: SipDestination): Promise<void>;
  /** Whether a connection to there is open. */
  has(destination: SipDestination): boolean;
  /** What is sent there next goes on a connection of its own; nothing where there are none. */
  disconnect(destination: SipDestination): void;
  close(): Promise<void>;
}

/**
 * Listens on `address` and `port` (0 = any free one). Rejects when it cannot; whatever goes wrong later is the sender's
 * or the network's loss.
 */
export async function openUdp(options: { address: string; port: number; onMessage: SipListener }): Promise<SipSocket> {
  const isDual = isIPv6(options.address);
  const socket = createSocket(isDual ? 'udp6' : 'udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(options.port, options.address, resolve);
  });
  socket.removeAllListeners('error');
  // An ICMP "unreachable" of a peer comes as an error of the socket; it goes on.
  socket.on('error', () => undefined);
  socket.on('message', (bytes, { address, port }) =>
    options.onMessage(bytes, { protocol: 'UDP', address: withoutMapping(address), port }),
  );
  return {
    protocol: 'UDP',
    port: socket.address().port,
    send: (text, { host, port }) => sendDatagram(socket, text, isDual && isIPv4(host) ? `::ffff:${host}` : host, port),
    has: () => false,
    disconnect: () => undefined,
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

function sendDatagram(socket: Socket, text: string, address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(Buffer.from(text, 'latin1'), port, address, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** A socket for both kinds of addresses writes an IPv4 one as IPv6 (`::ffff:192.0.2.1`). */
export function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
