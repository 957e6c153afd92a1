import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { SocketWriter } from '../../src/clients/shared/socket-writer.ts';
import { FakeClock } from '../fakes/clock.ts';

/** Of a client that reads nothing. */
class StalledSocket extends EventEmitter {
  sent = 0;
  isGone = false;

  send(): void {
    this.sent++;
  }

  terminate(): void {
    this.isGone = true;
  }
}

it('drops a client that asks on and on, and reads no answer', () => {
  const socket = new StalledSocket();
  const writer = new SocketWriter(socket as unknown as WebSocket, new FakeClock());
  while (!socket.isGone && socket.sent < 10_000) void writer.send('{"type":"Cleared"}');
  expect(socket.isGone).toBe(true);
});
