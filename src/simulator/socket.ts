/** What every simulated caller waits for on its WebSocket. */
import type { WebSocket } from 'ws';
import { describeAnswer, readBody } from './http-answer.ts';

/** How a call's socket ended. */
export interface SocketEnd {
  readonly closeCode: number;
  readonly closeReason: string;
}

/**
 * Resolves when the server has accepted the call. Otherwise it rejects with the reason, the server's if it gave one.
 */
export function untilOpen(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`the server did not accept the call: ${reason}`));
    socket.once('open', resolve);
    socket.on('error', ({ message }) =>
      fail(message.includes('ECONNREFUSED') ? `nothing listens there (${message})` : message),
    );
    socket.once('unexpected-response', (_request, answer) => {
      void readBody(answer).then((body) => {
        fail(describeAnswer(answer.statusCode ?? 0, body));
        socket.terminate();
      });
    });
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
