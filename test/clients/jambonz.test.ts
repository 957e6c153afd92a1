import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { readWav } from '../../src/audio/wav.ts';
import { silence, spoken } from '../fakes/engine.ts';
import { eventually } from '../helpers/eventually.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../http/test-server.ts';

let testServer: TestServer;
let url: string;
beforeEach(() => open());
afterEach(() => testServer.app.close());

async function open(environment: Record<string, string> = {}): Promise<void> {
  testServer = await startServer(environment);
  url = await listen(testServer.app);
}

/** Ms of samples at 8 kHz as numbers, messages as objects; sound that comes in several messages is one number. */
class Client {
  readonly received: unknown[] = [];
  readonly socket: WebSocket;

  constructor(path: string) {
    this.socket = new WebSocket(url.replace('http', 'ws') + path);
    this.socket.on('message', (data: Buffer, isBinary) => {
      const last = this.received.at(-1);
      if (!isBinary) this.received.push(JSON.parse(data.toString()));
      else if (typeof last === 'number') this.received[this.received.length - 1] = last + data.length / 16;
      else this.received.push(data.length / 16);
    });
  }

  async send(...messages: readonly (object | Uint8Array)[]): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) await once(this.socket, 'open');
    for (const each of messages) this.socket.send(each instanceof Uint8Array ? each : JSON.stringify(each));
  }

  async closed(): Promise<number> {
    const [code] = (await once(this.socket, 'close')) as [number];
    return code;
  }
}

const START = {
  type: 'start',
  language: 'en-US',
  format: 'raw',
  encoding: 'LINEAR16',
  interimResults: true,
  sampleRateHz: 16_000,
  options: { hints: ['Kovac'], callSid: 'c1' },
};

describe('WS /jambonz/stt', () => {
  it('tells what was said, never an empty text, and closes after the last of it', async () => {
    const client = new Client('/jambonz/stt');
    await client.send(START, samplesToPcm16(spoken([5, 6])), samplesToPcm16(silence(200)), { type: 'stop' });
    expect(await client.closed()).toBe(1000);
    expect(client.received.at(-1)).toEqual({
      type: 'transcription',
      is_final: true,
      alternatives: [{ transcript: 'W5 w6.', confidence: expect.any(Number) }],
      channel: 1,
      language: expect.stringMatching(/^en/),
    });
    expect(client.received.filter((each) => JSON.stringify(each).includes('"transcript":""'))).toEqual([]);
  });

  it('closes without a word where nothing was said', async () => {
    const client = new Client('/jambonz/stt');
    await client.send(START, samplesToPcm16(silence(400)), { type: 'stop' });
    expect([await client.closed(), client.received]).toEqual([1000, []]);
  });

  it.each([
    ['other sound', { ...START, encoding: 'OGG_OPUS' }, /LINEAR16/],
    ['a strange rate', { ...START, sampleRateHz: 7 }, /sampleRateHz/],
    ['a strange language', { ...START, language: 'tlh' }, /"tlh"/],
    ['sound without a start', new Uint8Array(320), /start/],
  ])('tells jambonz of an error, which may then take another vendor: %s', async (_name, message, error) => {
    const client = new Client('/jambonz/stt');
    await client.send(message);
    expect(await client.closed()).toBeGreaterThan(1000);
    expect(client.received).toEqual([{ type: 'error', error: expect.stringMatching(error) }]);
  });

  it.each([
    [{ hints: [' Kovac ', 'snow day', ''] }],
    [{ hints: JSON.stringify([{ phrase: 'Kovac', boost: 20 }, { phrase: 'snow day' }]), hintsBoost: 20 }],
  ])('gives the recogniser the hints %j', async (options) => {
    const { engine } = testServer;
    engine.abilities = { ...(engine.abilities as RecogniserAbilities), hotWords: true };
    const client = new Client('/jambonz/stt');
    await client.send({ ...START, options }, samplesToPcm16(spoken([5, 6])), { type: 'stop' });
    expect(await client.closed()).toBe(1000);
    const given = engine.transcribed.map(({ hotWords }) => hotWords);
    expect(given).toEqual(given.map(() => ['Kovac', 'snow day']));
    expect(given).not.toEqual([]);
  });

  it('refuses one session too many in the handshake, and a wrong key', async () => {
    await testServer.app.close();
    await open({ LISTENERS_MAX: '1', API_KEYS: 'key-1' });
    expect(await upgradeStatus(`${url}/jambonz/stt`)).toBe(401);
    const bearer = { authorization: 'Bearer key-1' };
    const first = new WebSocket(`${url.replace('http', 'ws')}/jambonz/stt`, { headers: bearer });
    await once(first, 'open');
    expect(await upgradeStatus(`${url}/jambonz/stt`, bearer)).toBe(503);
    first.terminate();
    await eventually(async () => expect(await upgradeStatus(`${url}/jambonz/stt`, bearer)).toBe(101));
  });
});

describe('POST /jambonz/tts', () => {
  const post = (payload: object, accept?: string) =>
    testServer.app.inject({
      method: 'POST',
      url: '/jambonz/tts',
      payload,
      headers: accept === undefined ? {} : { accept },
    });

  it('answers MP3 unless something else is accepted', async () => {
    const answer = await post({ language: 'en-US', voice: 'nobody', type: 'text', text: 'Hello there.' }, 'audio/mpeg');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'audio/mpeg']);
    const wav = await post({ text: 'Hello there.' }, 'audio/wav');
    expect(readWav(wav.rawPayload).rateHz).toBe(16_000);
    const raw = await post({ text: 'Hello there.' }, 'audio/l16;rate=8000');
    expect([raw.headers['content-type'], raw.rawPayload.length]).toEqual(['audio/l16;rate=8000', 240 * 16]);
  });

  it('speaks the text of SSML', async () => {
    await post({ type: 'ssml', text: '<speak>Tom &amp; <emphasis>Ann</emphasis>.</speak>' });
    expect(testServer.engine.spoken.map(({ text }) => text).join('')).toMatch(/^Tom and Ann/);
  });

  it.each([[{}], [{ text: 7 }]])('refuses %j', async (body) => {
    expect((await post(body)).statusCode).toBe(400);
  });
});

describe('WS /jambonz/tts', () => {
  const CONNECT = { type: 'connect', data: { sample_rate: 8000, base64_encoding: false } };

  it('speaks first, then what it is sent', async () => {
    const client = new Client('/jambonz/tts?voice=nobody&language=en-US&sampleRate=8000');
    await client.send({ type: 'stream', text: 'Hello ' }, { type: 'stream', text: 'there.' }, { type: 'flush' });
    await eventually(() => expect(client.received).toEqual([CONNECT, 240]));
    await client.send({ type: 'stop' });
    expect(await client.closed()).toBe(1000);
  });

  it('drops what it has not said when it is cleared', async () => {
    testServer.engine.speakMs = 1000;
    const client = new Client('/jambonz/tts');
    await client.send({ type: 'stream', text: 'Hello there.' }, { type: 'flush' });
    await eventually(() => expect(testServer.engine.spoken).toHaveLength(1));
    await client.send({ type: 'clear' }, { type: 'stream', text: 'Two.' }, { type: 'flush' });
    await eventually(() => expect(testServer.engine.spoken).toHaveLength(2));
    testServer.clock.advance(1000);
    await eventually(() => expect(client.received).toEqual([CONNECT, 80]));
    client.socket.close();
  });

  it('passes over what comes behind a stop', async () => {
    const client = new Client('/jambonz/tts');
    await client.send({ type: 'stop' }, { type: 'stream', text: 'Two.' }, { type: 'flush' }, { type: 'clear' });
    expect(await client.closed()).toBe(1000);
    expect([client.received, testServer.engine.spoken]).toEqual([[CONNECT], []]);
  });

  it('goes on after what it cannot read, and refuses a rate in the handshake', async () => {
    const client = new Client('/jambonz/tts');
    await client.send({ type: 'stream' }, { type: 'other' }, { type: 'stream', text: 'Two.' }, { type: 'flush' });
    const error = { type: 'error', error: expect.stringMatching(/^text/) };
    await eventually(() => expect(client.received).toEqual([CONNECT, error, 80]));
    client.socket.close();
    expect(await upgradeStatus(`${url}/jambonz/tts?sampleRate=7`)).toBe(400);
  });
});
