/** What stands between a gateway and its PostgreSQL server: it can be cut, and can be like a pooler. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The message of the server's protocol that carries a notification. */
const NOTIFICATION = 'A'.charCodeAt(0);

export interface PostgresProxy {
  /** The database's URL, through the proxy. */
  readonly url: string;
  /** Breaks all connections and takes no others. */
  cut(): void;
  /** Passes nothing on any more, but keeps the connections. */
  hold(): void;
  /** Works again. */
  mend(): void;
  /** Whether notifications come through. */
  notifies: boolean;
  close(): Promise<void>;
}

/** Takes whole messages of the server out of `buffer`; what is left is the beginning of the next. */
function* messagesOf(buffer: Buffer): Generator<Buffer, Buffer> {
  let at = 0;
  while (buffer.length - at >= 5) {
    const end = at + 1 + buffer.readUInt32BE(at + 1);
    if (end > buffer.length) break;
    yield buffer.subarray(at, end);
    at = end;
  }
  return buffer.subarray(at);
}

/** Passes connections on to the database at `databaseUrl`. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let state: 'works' | 'cut' | 'holds' = 'works';
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy();
    const behind = connect(Number(target.port), target.hostname);
    const other = (socket: Socket): Socket => (socket === client ? behind : client);
    for (const socket of [client, behind]) {
      sockets.add(socket);
      // Each message is a packet of its own here, and would wait for the receipt of the one before it.
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other(socket).destroy();
      });
    }
    client.on('data', (chunk: Buffer) => {
      if (state === 'works') behind.write(chunk);
    });
    let rest: Buffer = Buffer.alloc(0);
    behind.on('data', (chunk: Buffer) => {
      const messages = messagesOf(Buffer.concat([rest, chunk]));
      const passed: Buffer[] = [];
      let next = messages.next();
      for (; next.done !== true; next = messages.next())
        if (proxy.notifies || next.value[0] !== NOTIFICATION) passed.push(next.value);
      rest = next.value;
      if (state === 'works' && passed.length > 0) client.write(Buffer.concat(passed));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: PostgresProxy = {
    url: url.href,
    notifies: true,
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.destroy();
    },
    hold() {
      state = 'holds';
    },
    mend() {
      if (state === 'holds') for (const socket of sockets) socket.destroy();
      state = 'works';
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
