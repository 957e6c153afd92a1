/** With which code WebSockets are closed when the server ends. */
import type { WebSocket } from 'ws';

/** RFC 6455 §7.4: what was to be done is done. */
const NORMAL = 1000;
/** "Service restart" (IANA): carriers and readers of ours connect again. */
const RESTART = 1012;

const normal = new WeakSet<WebSocket>();

/** Has `socket` closed with 1000: its clients take every other code for a failure. */
export function endNormally(socket: WebSocket): void {
  normal.add(socket);
}

/** The server ends: closes `socket` with 1012, or with 1000 where {@link endNormally} was called. */
export function closeDrained(socket: WebSocket): void {
  socket.close(normal.has(socket) ? NORMAL : RESTART, 'draining');
  // The close that the client answers with has to be read.
  if (socket.isPaused) socket.resume();
}
