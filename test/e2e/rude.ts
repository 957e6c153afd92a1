/**
 * The ways in which a stranger misuses a carrier's socket. Each opens one, misbehaves, and resolves when the socket is
 * gone.
 */
import { WebSocket } from 'ws';

const FRAME_OF_SILENCE = Buffer.alloc(160, 0xff).toString('base64');

type Act = (socket: WebSocket, id: number) => void;

const say = (socket: WebSocket, message: unknown) =>
  socket.send(typeof message === 'string' ? message : JSON.stringify(message));

function sayStart(socket: WebSocket, id: number, encoding = 'audio/x-mulaw'): void {
  say(socket, { event: 'connected', protocol: 'Call', version: '1.0.0' });
  say(socket, {
    event: 'start',
    sequenceNumber: '1',
    streamSid: `MZrude${id}`,
    start: {
      streamSid: `MZrude${id}`,
      accountSid: 'AC1',
      callSid: `CArude${id}`,
      tracks: ['inbound'],
      customParameters: {},
      mediaFormat: { encoding, sampleRate: 8000, channels: 1 },
    },
  });
}

function sayMedia(socket: WebSocket, id: number, chunk: number, payload = FRAME_OF_SILENCE): void {
  const media = { track: 'inbound', chunk: String(chunk), timestamp: String((chunk - 1) * 20), payload };
  say(socket, { event: 'media', sequenceNumber: String(chunk + 1), media, streamSid: `MZrude${id}` });
}

function sayMuch(socket: WebSocket, id: number, frames: number): void {
  sayStart(socket, id);
  for (let chunk = 1; chunk <= frames; chunk++) sayMedia(socket, id, chunk);
}

/** Rude ways by name. */
export const RUDE_WAYS: Readonly<Record<string, Act>> = {
  'drops at once': (socket) => socket.terminate(),
  'closes at once': (socket) => socket.close(),
  'says connected and vanishes': (socket) => {
    say(socket, { event: 'connected', protocol: 'Call', version: '1.0.0' });
    socket.terminate();
  },
  'starts and vanishes': (socket, id) => {
    sayStart(socket, id);
    socket.terminate();
  },
  'vanishes in mid-media': (socket, id) => {
    sayMuch(socket, id, 50);
    socket.terminate();
  },
  'closes without stop': (socket, id) => {
    sayMuch(socket, id, 50);
    socket.close(1000);
  },
  'stops and never closes': (socket, id) => {
    sayMuch(socket, id, 20);
    say(socket, {
      event: 'stop',
      sequenceNumber: '99',
      stop: { accountSid: 'AC1', callSid: `CArude${id}` },
      streamSid: `MZrude${id}`,
    });
  },
  'sends what is not JSON': (socket) => say(socket, '{"event":"start"'),
  'sends JSON that is no object': (socket) => say(socket, '[1,2,3]'),
  'sends binary': (socket) => socket.send(Buffer.from([1, 2, 3])),
  'sends media before start': (socket, id) => sayMedia(socket, id, 1),
  'starts twice': (socket, id) => {
    sayMuch(socket, id, 5);
    sayStart(socket, id);
  },
  'sends bad base64': (socket, id) => {
    sayStart(socket, id);
    sayMedia(socket, id, 1, '***not base64***');
  },
  'speaks an unknown codec': (socket, id) => sayStart(socket, id, 'audio/opus'),
  'sends too large a message': (socket) => say(socket, 'x'.repeat(200_000)),
  'puts a number where text belongs': (socket) => say(socket, { event: 'start', start: 7, streamSid: null }),
};

/** Misbehaves at `url` in the way of `act`; resolves with the close code when the socket is gone, whoever closed it. */
export function behaveRudely(url: string, act: Act, id: number): Promise<number> {
  const socket = new WebSocket(url);
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', (code) => resolve(code));
    socket.on('open', () => act(socket, id));
  });
}
