import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RemoteError } from '../../../src/engine-client/remote/remote-recogniser.ts';
import { WyomingRecogniser } from '../../../src/engine-client/remote/wyoming-recogniser.ts';
import { eventually } from '../../helpers/eventually.ts';

let server: Server;
let recogniser: WyomingRecogniser;
let sockets: Socket[];
/** Called when all of the sound is there. */
let answer: (socket: Socket) => void;

const say = (socket: Socket, ...events: readonly object[]): void =>
  void socket.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));

function ask(signal = new AbortController().signal): Promise<string> {
  return recogniser.recognise({ samples: new Int16Array(16_000), language: 'en', urgency: 'final', signal }).then(
    ({ text }) => text,
    (error: Error) => (error instanceof RemoteError ? `${error.failure}: ${error.message}` : error.name),
  );
}

beforeEach(async () => {
  sockets = [];
  answer = (socket) => say(socket, { type: 'transcript', data: { text: ' Heard.' } });
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    let last = '';
    socket.on('data', (bytes) => {
      last = (last + bytes.toString('latin1')).slice(-100);
      if (last.includes('"audio-stop"')) answer(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  recogniser = new WyomingRecogniser(new URL(`wyoming://127.0.0.1:${(server.address() as AddressInfo).port}`));
});

afterEach(() => {
  recogniser.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

describe('a server that speaks Wyoming', () => {
  it('answers with a transcript', async () => {
    expect(await Promise.all([ask(), ask()])).toEqual(['Heard.', 'Heard.']);
  });

  it('may tell it piece by piece', async () => {
    answer = (socket) =>
      say(
        socket,
        { type: 'transcript-start' },
        { type: 'transcript-chunk', data: { text: 'Heard ' } },
        { type: 'transcript-chunk', data: { text: 'this.' } },
        { type: 'transcript-stop' },
      );
    expect(await ask()).toBe('Heard this.');
  });

  it.each([
    ['closes', (socket: Socket) => void socket.end(), 'failed: it closed the connection without an answer'],
    ['tells of an error', (socket: Socket) => say(socket, { type: 'error' }), 'failed: it answered with an error'],
    ['says nothing sensible', (socket: Socket) => void socket.write('x\n'), 'unusable: it sent what is no JSON object'],
    [
      'has no text',
      (socket: Socket) => say(socket, { type: 'transcript', data: {} }),
      'unusable: what it answered is no transcript',
    ],
    [
      'never ends',
      (socket: Socket) => void socket.write(Buffer.alloc(100_000, 'a')),
      'unusable: it sent a line that is too long',
    ],
  ])('that %s has not read it', async (_what, behave, told) => {
    answer = behave;
    expect(await ask()).toBe(told);
  });

  it('that hangs is left when nobody waits any more', async () => {
    answer = () => undefined;
    const asking = new AbortController();
    const asked = ask(asking.signal);
    await eventually(() => expect(sockets).toHaveLength(1));
    asking.abort();
    expect(await asked).toContain('failed');
    await eventually(() => expect(sockets[0]?.destroyed || sockets[0]?.readableEnded).toBe(true));
  });

  it('that is not there has failed', async () => {
    recogniser = new WyomingRecogniser(new URL('wyoming://127.0.0.1:1'));
    expect(await ask()).toBe('failed: it could not be reached (ECONNREFUSED)');
  });
});
