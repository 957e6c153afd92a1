/** Streams of SIP messages on connections that peers or we have opened (RFC 3261 §18), over TCP or TLS. */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { type SipListener, withoutMapping } from './udp.ts';
import type { SipFault } from './wire/fault.ts';
import { SipFramer } from './wire/framer.ts';
import type { SipDestination } from './wire/uris.ts';
import type { SipSource } from './wire/via.ts';

/** Most connections at once, in all and from one address. */
const CONNECTIONS_MAX = 512;
const CONNECTIONS_PER_ADDRESS = 32;
/**
 * A connection that received nothing for this long is closed. Phones send a keep-alive at least every two minutes.
 */
const IDLE_MS = 600_000;
const CONNECT_TIMEOUT_MS = 5000;
/** How long a peer that does not take our certificate has to say so. */
const DOUBT_MS = 2000;
/** A connection is cut when more than this waits because the peer does not read. */
const WAITING_MAX_BYTES = 262_144;
/** Keep-alives are not answered while more than this waits. */
const PONG_WAITING_MAX_BYTES = 4096;

/** What connections need of their surroundings. */
export interface ConnectionOptions {
  readonly clock: Clock;
  /** Whether to accept a connection from this address; otherwise it is closed without an answer. */
  admits(address: string): boolean;
  /** A connection was refused. */
  onRefused(address: string): void;
  readonly onMessage: SipListener;
  /**
   * The length of the message that begins with `text` cannot be determined. The connection is closed after the answer
   * that this function sends. It must not throw.
   */
  onBroken(text: string, source: SipSource, fault: SipFault): void;
  /** A connection that we had opened was closed, but not by us. */
  onLost(peer: SipDestination): void;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly port: number;
  readonly framer: SipFramer;
  readonly isOurs: boolean;
  /** Rejects when the peer ends a connection of ours at once. */
  readonly accepted: Promise<void>;
  idle: Timer;
}

/** How connections of one kind are made. */
export interface ConnectionKind {
  readonly protocol: 'TCP' | 'TLS';
  /** Begins a connection; `ready` is its event when messages can be sent. */
  dial(destination: SipDestination): Socket;
  readonly ready: 'connect' | 'secureConnect';
  /** Whether an open connection is to whom a message is for, by the name in `destination`. */
  reaches(socket: Socket, destination: SipDestination): boolean;
  /** A connection that we began could not be made, or was ended by the peer before it said anything. */
  onFailed(destination: SipDestination, error: Error): void;
}

/** The open connections, by their far end. */
export class Connections {
  readonly #options: ConnectionOptions & ConnectionKind;
  readonly #open = new Map<string, Connection>();
  /** Connections that we are opening. Messages sent there meanwhile use the same one. */
  readonly #opening = new Map<string, { readonly socket: Socket; readonly connected: Promise<Connection> }>();

  constructor(options: ConnectionOptions & ConnectionKind) {
    this.#options = options;
  }

  /** A peer has connected. */
  enter(socket: Socket): void {
    const address = withoutMapping(socket.remoteAddress ?? '');
    if (this.isWelcome(address)) {
      this.#keep(socket, { address, port: socket.remotePort ?? 0, isOurs: false, accepted: Promise.resolve() });
      return;
    }
    this.#options.onRefused(address);
    socket.destroy();
  }

  /** Whether this address may have one more connection, beside `others` that are not kept here. */
  isWelcome(address: string, others = { all: 0, fromThere: 0 }): boolean {
    const fromThere = [...this.#open.values()].filter((connection) => connection.address === address).length;
    const isRoom =
      this.#open.size + others.all < CONNECTIONS_MAX && fromThere + others.fromThere < CONNECTIONS_PER_ADDRESS;
    return isRoom && this.#options.admits(address);
  }

  /** Sends a message, over a new connection where none is open. Rejects when it cannot. */
  async send(text: string, destination: SipDestination): Promise<void> {
    const { host, port } = destination;
    const key = keyOf(host, port);
    const connection = this.#open.get(key) ?? (await (this.#opening.get(key)?.connected ?? this.#connect(destination)));
    const { socket } = connection;
    if (connection.isOurs && !this.#options.reaches(socket, destination))
      throw new Error('another peer is at the end of the open connection');
    if (socket.writableLength > WAITING_MAX_BYTES) socket.destroy(new Error('the peer does not read'));
    await new Promise<void>((resolve, reject) => {
      socket.write(Buffer.from(text, 'latin1'), (error) => (error ? reject(error) : resolve()));
    });
    await connection.accepted;
  }

  /** Whether a connection to there is open. */
  has({ host, port }: SipDestination): boolean {
    return this.#open.has(keyOf(host, port));
  }

  /** Cuts the connection to there, if there is one. */
  disconnect({ host, port }: SipDestination): void {
    const key = keyOf(host, port);
    const connection = this.#open.get(key);
    this.#open.delete(key);
    connection?.socket.destroy();
  }

  /** Cuts all connections. */
  close(): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { socket } of open) socket.destroy();
    for (const { socket } of this.#opening.values()) socket.destroy(new Error('we are closing'));
  }

  #connect(destination: SipDestination): Promise<Connection> {
    const { host, port } = destination;
    if (this.#open.size + this.#opening.size >= CONNECTIONS_MAX)
      return Promise.reject(new Error(`${CONNECTIONS_MAX} connections are open`));
    const socket = this.#options.dial(destination);
    const timer = this.#options.clock.after(CONNECT_TIMEOUT_MS, () =>
      socket.destroy(new Error('no connection in time')),
    );
    const key = keyOf(host, port);
    const settle = (): void => {
      timer.cancel();
      this.#opening.delete(key);
    };
    const connected = new Promise<Connection>((resolve, reject) => {
      const onError = (error: Error): void => {
        settle();
        this.#options.onFailed(destination, error);
        reject(error);
      };
      socket.once('error', onError);
      socket.once(this.#options.ready, () => {
        settle();
        socket.off('error', onError);
        const accepted = this.#acceptance(socket, destination);
        resolve(this.#keep(socket, { address: host, port, isOurs: true, accepted }));
      });
    });
    this.#opening.set(key, { socket, connected });
    return connected;
  }

  /**
   * With TLS 1.3 a peer that does not take our certificate says so on a connection that is already made: what was sent
   * there was not. Over TCP no one waits.
   */
  #acceptance(socket: Socket, destination: SipDestination): Promise<void> {
    if (this.#options.protocol === 'TCP') return Promise.resolve();
    const accepted = new Promise<void>((resolve, reject) => {
      const onError = (error: Error): void => {
        this.#options.onFailed(destination, error);
        reject(error);
      };
      const onEnd = (): void => onError(Object.assign(new Error('ended by the peer'), { code: 'ECONNRESET' }));
      const onAccepted = (): void => {
        timer.cancel();
        socket.off('error', onError);
        socket.off('end', onEnd);
        resolve();
      };
      const timer = this.#options.clock.after(DOUBT_MS, onAccepted, true);
      socket.once('error', onError);
      socket.once('end', onEnd);
      socket.once('data', onAccepted);
    });
    // Whoever sends is told; a connection may end with nothing to send.
    accepted.catch(() => undefined);
    return accepted;
  }

  #keep(socket: Socket, peer: Pick<Connection, 'address' | 'port' | 'isOurs' | 'accepted'>): Connection {
    const { address, port, isOurs } = peer;
    const key = keyOf(address, port);
    const connection: Connection = { ...peer, socket, framer: new SipFramer(), idle: this.#watch(socket) };
    this.#open.set(key, connection);
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#receive(connection, bytes));
    // 'close' follows and handles it.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      connection.idle.cancel();
      if (this.#open.get(key) !== connection) return;
      this.#open.delete(key);
      if (isOurs) this.#options.onLost({ host: address, port });
    });
    return connection;
  }

  #watch(socket: Socket): Timer {
    return this.#options.clock.after(IDLE_MS, () => socket.destroy(), true);
  }

  #receive(connection: Connection, bytes: Buffer): void {
    const { socket, framer, address, port } = connection;
    // After an error in the stream, further bytes must not keep the connection open.
    if (framer.broken) return;
    connection.idle.cancel();
    connection.idle = this.#watch(socket);
    const frames = framer.push(bytes);
    // One answer for all keep-alives that came together, so that a peer that sends thousands and does not read cannot
    // fill our memory with answers.
    const isPinged = frames.some(({ type }) => type === 'ping');
    if (isPinged && socket.writableLength < PONG_WAITING_MAX_BYTES) socket.write('\r\n');
    const source = { protocol: this.#options.protocol, address, port };
    for (const frame of frames) {
      if (frame.type === 'message') this.#options.onMessage(Buffer.from(frame.text, 'latin1'), source);
      if (frame.type !== 'fault') continue;
      this.#options.onBroken(frame.text, source, frame.fault);
      socket.destroySoon();
    }
  }
}

function keyOf(address: string, port: number): string {
  return `${address} ${port}`;
}
