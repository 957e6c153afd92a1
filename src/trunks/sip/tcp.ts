/** SIP over TCP: a stream of messages, on connections that peers or we have opened (RFC 3261 §18). */
import { connect, createServer, type Socket } from 'node:net';
import { type SipDestination, SipFramer } from '../../carriers/sip.ts';
import type { Clock, Timer } from '../../clock.ts';
import { type SipListener, type SipSocket, withoutMapping } from './udp.ts';

/** Connections at once, and of one address. */
const CONNECTIONS_MAX = 512;
const CONNECTIONS_PER_ADDRESS = 32;
/** A connection on which nothing came for so long is closed; phones send a sign of life every two minutes at the latest. */
const IDLE_MS = 600_000;
const CONNECT_TIMEOUT_MS = 5000;
/** A peer that does not read is cut off. */
const WAITING_MAX_BYTES = 262_144;
/** Nor are its signs of life answered beyond this. */
const PONG_WAITING_MAX_BYTES = 4096;

interface TcpOptions {
  readonly address: string;
  readonly port: number;
  readonly clock: Clock;
  /** Whether a connection from this address is let in at all; otherwise it is closed without a word. */
  admits(address: string): boolean;
  /** One was not. */
  onRefused(): void;
  readonly onMessage: SipListener;
  /** What came on a connection is not SIP; it is closed. */
  onMalformed(): void;
}

/** Listens, and connects where no connection is open yet. Rejects when it cannot listen. */
export async function openTcp(options: TcpOptions): Promise<SipSocket> {
  const connections = new Connections(options);
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        connections.close();
      }),
  };
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly port: number;
  readonly framer: SipFramer;
  idle: Timer;
}

/** The open connections, by their far end. */
class Connections {
  readonly #options: TcpOptions;
  readonly #open = new Map<string, Connection>();

  constructor(options: TcpOptions) {
    this.#options = options;
  }

  /** A peer has connected. */
  enter(socket: Socket): void {
    const address = withoutMapping(socket.remoteAddress ?? '');
    const fromThere = [...this.#open.values()].filter((connection) => connection.address === address).length;
    const isRoom = this.#open.size < CONNECTIONS_MAX && fromThere < CONNECTIONS_PER_ADDRESS;
    if (isRoom && this.#options.admits(address)) {
      this.#keep(socket, address, socket.remotePort ?? 0);
      return;
    }
    this.#options.onRefused();
    socket.destroy();
  }

  async send(text: string, { host, port }: SipDestination): Promise<void> {
    const { socket } = this.#open.get(keyOf(host, port)) ?? (await this.#connect(host, port));
    if (socket.writableLength > WAITING_MAX_BYTES) socket.destroy(new Error('the peer does not read'));
    await new Promise<void>((resolve, reject) => {
      socket.write(Buffer.from(text, 'latin1'), (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #connect(host: string, port: number): Promise<Connection> {
    if (this.#open.size >= CONNECTIONS_MAX) return Promise.reject(new Error(`${CONNECTIONS_MAX} connections are open`));
    const socket = connect({ host, port });
    const timer = this.#options.clock.after(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no connection in time')));
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', () => timer.cancel());
      socket.once('connect', () => {
        timer.cancel();
        resolve(this.#keep(socket, host, port));
      });
    });
  }

  #keep(socket: Socket, address: string, port: number): Connection {
    const key = keyOf(address, port);
    const connection: Connection = { socket, address, port, framer: new SipFramer(), idle: this.#watch(socket) };
    this.#open.set(key, connection);
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#receive(connection, bytes));
    // 'close' follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      connection.idle.cancel();
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    return connection;
  }

  #watch(socket: Socket): Timer {
    return this.#options.clock.after(IDLE_MS, () => socket.destroy(), true);
  }

  #receive(connection: Connection, bytes: Buffer): void {
    const { socket, framer, address, port } = connection;
    connection.idle.cancel();
    connection.idle = this.#watch(socket);
    try {
      const frames = framer.push(bytes);
      // One for all that came together: whoever sends thousands and reads nothing would have as many answers wait here.
      const isPinged = frames.some(({ type }) => type === 'ping');
      if (isPinged && socket.writableLength < PONG_WAITING_MAX_BYTES) socket.write('\r\n');
      for (const frame of frames) {
        if (frame.type === 'message') this.#options.onMessage(Buffer.from(frame.text, 'latin1'), { protocol: 'TCP', address, port });
      }
    } catch {
      this.#options.onMalformed();
      socket.destroy();
    }
  }
}

function keyOf(address: string, port: number): string {
  return `${address} ${port}`;
}
