/** Sessions of a server that ends: new ones are refused, live ones go on, and then end as their protocol has it. */
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { eventually } from '../helpers/eventually.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../http/test-server.ts';

/** Shorter than the silence after which a client counts as gone. */
const DRAIN_MS = 10_000;

let testServer: TestServer;
let url: string;
const clients: Client[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await testServer.app.close();
});

type Message = Record<string, unknown>;

class Client {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  soundBytes = 0;
  closed: readonly [number, string] | null = null;

  private constructor(path: string) {
    this.socket = new WebSocket(url.replace('http', 'ws') + path);
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.soundBytes += data.length;
      else this.messages.push(JSON.parse(data.toString()) as Message);
    });
    this.socket.on('close', (code, reason) => {
      this.closed = [code, reason.toString()];
    });
    clients.push(this);
  }

  static async open(path: string, greeting: readonly object[] = []): Promise<Client> {
    const client = new Client(path);
    await once(client.socket, 'open');
    for (const message of greeting) client.socket.send(JSON.stringify(message));
    return client;
  }

  /** Behind what was sent before. */
  async isRead(): Promise<void> {
    const answered = once(this.socket, 'pong');
    this.socket.ping();
    await answered;
  }
}

async function start(): Promise<void> {
  testServer = await startServer();
  url = await listen(testServer.app);
}

async function drainAtOnce(): Promise<void> {
  const drained = testServer.listeners.drain(1);
  testServer.clock.advance(1);
  await drained;
}

const asBytes = (samples: Int16Array): Uint8Array => samplesToPcm16(samples);
const asAppend = (samples: Int16Array): string =>
  JSON.stringify({
    type: 'input_audio_buffer.append',
    audio: Buffer.from(samplesToPcm16(samples)).toString('base64'),
  });

function realtime(detection: object | null): readonly object[] {
  const input = { format: { type: 'audio/pcm', rate: 16_000 }, turn_detection: detection };
  return [{ type: 'session.update', session: { type: 'transcription', audio: { input } } }];
}

const COMPLETED = {
  type: 'conversation.item.input_audio_transcription.completed',
  transcript: expect.stringMatching(/^W1 w2/),
};
const LINEAR = 'encoding=linear16&sample_rate=16000&punctuate=true';

/** How a client begins, how it sends sound, the last messages that it gets, and how it is closed. */
const PROTOCOLS = [
  [
    'Deepgram',
    `/v1/listen?${LINEAR}`,
    [],
    asBytes,
    [
      {
        type: 'Results',
        is_final: true,
        channel: { alternatives: [{ transcript: expect.stringMatching(/^W1 w2/) }] },
      },
      { type: 'Metadata', channels: 1 },
    ],
    [1012, 'draining'],
  ],
  [
    'Flux',
    `/v2/listen?${LINEAR}`,
    [],
    asBytes,
    [{ type: 'TurnInfo', event: 'EndOfTurn', transcript: expect.stringMatching(/^W1 w2/) }],
    [1012, 'draining'],
  ],
  ['Realtime', '/v1/realtime', realtime({ type: 'server_vad' }), asAppend, [COMPLETED], [1000, 'draining']],
  ['Realtime by turns', '/v1/realtime', realtime({ type: 'semantic_vad' }), asAppend, [COMPLETED], [1000, 'draining']],
  ['Realtime by commits', '/v1/realtime', realtime(null), asAppend, [COMPLETED], [1000, 'draining']],
  [
    'jambonz',
    '/jambonz/stt',
    [{ type: 'start', language: 'en-US', interimResults: true, sampleRateHz: 16_000 }],
    asBytes,
    [{ type: 'transcription', is_final: true, alternatives: [{ transcript: expect.stringMatching(/^W1 w2/) }] }],
    [1012, 'draining'],
  ],
  [
    'the Qwen3-ASR server',
    '/ws/transcribe',
    [],
    asBytes,
    [{ is_final: true, text: expect.stringMatching(/^W1 w2/) }],
    [1012, 'draining'],
  ],
] as const;

describe.each(PROTOCOLS)('a session of %s', (_name, path, greeting, write, last, close) => {
  it('goes on while the server drains, and gets its last final before it is closed', async () => {
    await start();
    const client = await Client.open(path, greeting);
    client.socket.send(write(concat(silence(300), spoken([1]))));
    const drained = testServer.listeners.drain(DRAIN_MS);
    expect(await upgradeStatus(url + path)).toBe(503);
    client.socket.send(write(spoken([2])));
    await client.isRead();
    testServer.clock.advance(DRAIN_MS - 1);
    await client.isRead();
    expect([client.closed, testServer.listeners.count]).toEqual([null, 1]);
    testServer.clock.advance(1);
    await drained;
    await eventually(() => expect(client.closed).toEqual(close));
    expect(client.messages.slice(-last.length)).toMatchObject(last);
  });

  it('without words ends in the same way, and with no text', async () => {
    await start();
    const client = await Client.open(path, greeting);
    client.socket.send(write(silence(300)));
    await client.isRead();
    await drainAtOnce();
    await eventually(() => expect(client.closed).toEqual(close));
    expect(JSON.stringify(client.messages)).not.toMatch(/"(transcript|text)":"."/);
  });
});

const SPEAKING = [
  ['/v1/speak', { type: 'Speak', text: 'One more sentence.' }],
  ['/v2/speak', { type: 'Speak', text: 'One more sentence.' }],
  ['/jambonz/tts', { type: 'stream', text: 'One more sentence.' }],
] as const;

it.each(SPEAKING)('what was written to %s is said before the server ends it', async (path, text) => {
  await start();
  const client = await Client.open(path);
  client.socket.send(JSON.stringify(text));
  await client.isRead();
  await drainAtOnce();
  await eventually(() => expect(client.closed).toEqual([1012, 'draining']));
  expect(client.soundBytes).toBeGreaterThan(0);
});

it('a handshake is refused with when to come again', async () => {
  await start();
  await testServer.listeners.drain(0);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/listen?${LINEAR}`);
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '2']);
  socket.terminate();
});

it('a session whose last final does not come is closed all the same', async () => {
  await start();
  testServer.engine.transcribeMs = 1_000_000;
  const client = await Client.open(`/v1/listen?${LINEAR}`);
  client.socket.send(asBytes(concat(silence(300), spoken([1]))));
  await client.isRead();
  let isDrained = false;
  void testServer.listeners.drain(0).then(() => {
    isDrained = true;
  });
  await eventually(() => {
    testServer.clock.advance(1000);
    expect(isDrained).toBe(true);
  });
  await testServer.app.close();
  await eventually(() => expect(client.closed).toEqual([1012, 'draining']));
});
