/** Connections that we open ourselves. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTcp } from '../../../src/carriers/sip/tcp.ts';
import type { SipSocket } from '../../../src/carriers/sip/udp.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';

let far: Server;
let port: number;
let accepted: { readonly socket: Socket; text: string }[];
let ours: SipSocket;
let lost: number;

beforeEach(async () => {
  accepted = [];
  lost = 0;
  far = createServer((socket) => {
    const connection = { socket, text: '' };
    accepted.push(connection);
    socket.on('data', (bytes) => {
      connection.text += bytes;
    });
    socket.on('error', () => undefined);
  });
  far.listen(0, '127.0.0.1');
  await once(far, 'listening');
  const address = far.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const ignored = { onRefused: () => undefined, onMessage: () => undefined, onBroken: () => undefined };
  const handlers = { ...ignored, admits: () => true, onLost: () => void lost++ };
  ours = await openTcp({ address: '127.0.0.1', port: 0, clock: new FakeClock(), ...handlers });
});
afterEach(async () => {
  await ours.close();
  for (const { socket } of accepted) socket.destroy();
  far.close();
});

describe('a connection of ours', () => {
  it('is one for all that is sent at once, and missed when it is gone', async () => {
    const peer = { host: '127.0.0.1', port };
    await Promise.all([ours.send('a', peer), ours.send('b', peer), ours.send('c', peer)]);
    await eventually(() => expect(accepted.map(({ text }) => text)).toEqual(['abc']));
    for (const { socket } of accepted) socket.destroy();
    await eventually(() => expect(lost).toBe(1));
  });

  it('that cannot be opened fails for all, and is tried again', async () => {
    far.close();
    await once(far, 'close');
    const peer = { host: '127.0.0.1', port };
    const results = await Promise.allSettled([ours.send('a', peer), ours.send('b', peer)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    far.listen(port, '127.0.0.1');
    await once(far, 'listening');
    await ours.send('c', peer);
    await eventually(() => expect(accepted.map(({ text }) => text)).toEqual(['c']));
  });

  it('that is being opened when we close is not opened', async () => {
    const sent = ours.send('a', { host: '127.0.0.1', port });
    await ours.close();
    await expect(sent).rejects.toThrow();
    expect(accepted.map(({ text }) => text).join('')).toBe('');
  });
});
