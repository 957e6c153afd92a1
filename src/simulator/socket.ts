/** What every simulated caller waits for on its WebSocket. */
import type { WebSocket } from 'ws';
import { describeAnswer, readBody } from './refusal.ts';

/** How a call's socket ended. */
export interface SocketEnd {
  readonly closeCode: number;
  readonly closeReason: string;
}

/**
 * Resolves when the bridge has taken the call; fails with the reason why it did not: the bridge's own, where it gave
 * one.
 */
export function untilOpen(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`the bridge did not take the call: ${reason}`));
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
