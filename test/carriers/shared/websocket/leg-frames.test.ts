/** What leaves a leg, seen as bytes: Asterisk loses sound of messages that come in fragments, or hangs up. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { AsteriskDialect } from '../../../../src/carriers/asterisk/wire/chan-websocket.ts';
import { WebSocketLeg } from '../../../../src/carriers/shared/websocket/leg.ts';
import { systemClock } from '../../../../src/foundation/clock.ts';

const START =
  'MEDIA_START connection_id:trunkline channel:WebSocket/trunkline/0x7fe7 channel_id:1.2 format:slin192 ' +
  'optimal_frame_size:7680 ptime:20';
const LIMITS = { startTimeoutMs: 60_000, mediaTimeoutMs: 60_000, sendBufferMaxBytes: 1e6 };
const UPGRADE = ['GET / HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

let server: WebSocketServer | null = null;
let socket: Socket | null = null;
afterEach(() => {
  socket?.destroy();
  server?.close();
});

/** The first byte and the size of each frame that a server sent (RFC 6455 §5.2). */
function framesIn(bytes: Buffer): { first: number; size: number }[] {
  const frames: { first: number; size: number }[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes.readUInt8(at + 1);
    const size = short === 126 ? bytes.readUInt16BE(at + 2) : short;
    frames.push({ first: bytes.readUInt8(at), size });
    at += size + (short === 126 ? 4 : 2);
  }
  return frames;
}

it('a leg sends each message as one frame, however long', async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (accepted) => {
    const leg = new WebSocketLeg({
      socket: accepted,
      dialect: new AsteriskDialect(),
      limits: LIMITS,
      clock: systemClock,
      handlers: {
        onEvent: (event) => {
          if (event.type !== 'start') return;
          for (const size of [1, 7680, 15_360, 65_500]) leg.send({ type: 'audio', bytes: new Uint8Array(size) });
          leg.send({ type: 'mark', name: 's1' });
          leg.send({ type: 'clear' });
          leg.close(1000, '');
        },
        onClosed: () => undefined,
      },
    });
  });
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const key = randomBytes(16).toString('base64');
  socket.write(`${[...UPGRADE, `Sec-WebSocket-Key: ${key}`].join('\r\n')}\r\n\r\n`);
  const mask = Buffer.alloc(4);
  let received = Buffer.alloc(0);
  for await (const data of socket) {
    if (received.length === 0)
      socket.write(Buffer.concat([Buffer.of(0x81, 0xfe, 0, START.length), mask, Buffer.from(START)]));
    received = Buffer.concat([received, data as Buffer]);
    if (received.subarray(-20).includes('\u0003\u00e8', 0, 'latin1')) break;
  }
  const head = received.indexOf('\r\n\r\n');
  expect(received.subarray(0, head).toString()).toContain(
    createHash('sha1')
      .update(key + GUID)
      .digest('base64'),
  );
  const [text, binary, close] = [0x81, 0x82, 0x88];
  expect(framesIn(received.subarray(head + 4)).map(({ first, size }) => [first, first === binary ? size : 0])).toEqual([
    ...[1, 7680, 15_360, 65_500].map((size) => [binary, size]),
    [text, 0],
    [text, 0],
    [text, 0],
    [text, 0],
    [close, 0],
    // ANSWER comes behind what the event itself caused, unless the leg is closing by then.
  ]);
}, 10_000);
