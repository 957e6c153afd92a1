/** What every simulated caller waits for on its WebSocket. */
import type { WebSocket } from 'ws';

/** How a call's socket ended. */
export interface SocketEnd {
  readonly closeCode: number;
  readonly closeReason: string;
}

/** Resolves when the bridge has taken the call; fails with the reason why it did not. */
export function untilOpen(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.on('error', (error) => reject(new Error(`the bridge did not take the call: ${error.message}`)));
  });
}

/** Resolves when the socket is gone, whoever closed it; `onClosed` is called in the same moment. */
export function untilClosed(socket: WebSocket, onClosed: () => void): Promise<SocketEnd> {
  return new Promise((resolve) => {
    socket.once('close', (closeCode, reason) => {
      onClosed();
      resolve({ closeCode, closeReason: reason.toString() });
    });
  });
}
