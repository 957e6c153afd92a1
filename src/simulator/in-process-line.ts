/** A WebSocket between two parts of one process: it goes through no port, so nobody else can come in by it. */
import { createServer } from 'node:http';
import type { createConnection, Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/**
 * Opens the connection of a caller's WebSocket (`createConnection` of its options); `accept` gets the server's end when
 * the handshake is done. Messages above `maxPayload` bytes close the socket.
 */
export function inProcessLine(accept: (socket: WebSocket) => void, maxPayload: number): typeof createConnection {
  const sockets = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false });
  // It never listens: a connection is handed to it.
  const server = createServer();
  server.on('upgrade', (request, socket, head) => sockets.handleUpgrade(request, socket, head, accept));
  const connect = (): Socket => {
    const [ours, theirs] = duplexPair();
    server.emit('connection', theirs);
    return ours as Socket;
  };
  return connect as typeof createConnection;
}
