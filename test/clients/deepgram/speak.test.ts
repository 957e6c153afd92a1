import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { readWav } from '../../../src/audio/wav.ts';
import { EngineError } from '../../../src/engine-client/engine.ts';
import { FAKE_VOICE } from '../../fakes/voices.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';

let testServer: TestServer;
let url: string;
beforeEach(() => open());
afterEach(() => testServer.app.close());

async function open(environment: Record<string, string> = {}): Promise<void> {
  testServer = await startServer(environment);
  url = await listen(testServer.app);
}

/** A fake voice takes 20 ms for each character. */
const HELLO = 'Hello there.';
const HELLO_MS = 240;

function post(query: string, payload: object | string = { text: HELLO }, headers: Record<string, string> = {}) {
  return testServer.app.inject({ method: 'POST', url: `/v1/speak${query}`, payload, headers });
}

describe('POST /v1/speak', () => {
  it('answers with MP3 and the headers that SDKs read', async () => {
    const answer = await post('?model=aura-2-thalia-en');
    expect(answer.statusCode).toBe(200);
    expect(answer.rawPayload.readUInt16BE(0) >> 5).toBe(0x7ff);
    expect(answer.headers).toMatchObject({
      'content-type': 'audio/mpeg',
      'dg-request-id': answer.headers['x-request-id'],
      'dg-char-count': '12',
      'dg-model-name': 'rms',
      'dg-model-uuid': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    });
  });

  it.each([
    ['linear16', 24_000],
    ['linear16&sample_rate=8000', 8000],
    ['mulaw', 8000],
    ['alaw&sample_rate=16000', 16_000],
  ])('answers encoding=%s with a WAV file of %i Hz', async (query, rateHz) => {
    const answer = await post(`?encoding=${query}`);
    expect(answer.headers['content-type']).toBe('audio/wav');
    const wav = readWav(answer.rawPayload);
    expect([wav.rateHz, ((wav.channels[0]?.length ?? 0) * 1000) / wav.rateHz]).toEqual([rateHz, HELLO_MS]);
  });

  it.each([
    ['linear16&sample_rate=8000', 'audio/l16;rate=8000;channels=1', 16],
    ['mulaw', 'audio/mulaw;rate=8000;channels=1', 8],
    ['alaw&sample_rate=16000', 'audio/alaw;rate=16000;channels=1', 16],
  ])('answers encoding=%s and container=none with bare samples', async (query, contentType, bytesPerMs) => {
    const answer = await post(`?encoding=${query}&container=none`);
    expect([answer.headers['content-type'], answer.rawPayload.length]).toEqual([contentType, HELLO_MS * bytesPerMs]);
  });

  it('takes a body with any content type, and plain text', async () => {
    expect((await post('', JSON.stringify({ text: HELLO }), { 'content-type': 'application/x' })).statusCode).toBe(200);
    expect((await post('', HELLO, { 'content-type': 'text/plain' })).statusCode).toBe(200);
  });

  it('speaks with a voice of ours, and tells once of one that there is not', async () => {
    await post('?model=aura-2-thalia-en');
    await post('?model=aura-2-thalia-en&sing=loud');
    await post('?model=RMS&sing=loud');
    const told = testServer.logLines.filter((line) => line.includes('aura-2-thalia-en'));
    expect(told).toHaveLength(1);
    expect(testServer.logLines.filter((line) => line.includes('"sing"'))).toHaveLength(1);
    expect(testServer.logLines.join('')).not.toContain('loud');
  });

  it('speaks the language of the model where a voice does', async () => {
    testServer.engine.voices = [FAKE_VOICE, { ...FAKE_VOICE, name: 'carmen', language: 'es-ES' }];
    expect((await post('?model=aura-2-celeste-es')).headers['dg-model-name']).toBe('carmen');
  });

  it.each([
    ['?encoding=g729', { text: HELLO }, 400, 'INVALID_REQUEST', /^encoding: got "g729"/],
    ['', { text: '' }, 400, 'INVALID_REQUEST', /nothing to say/],
    ['', { url: 'https://example.com' }, 400, 'INVALID_REQUEST', /^url/],
    ['', '{', 400, 'MESSAGE_MALFORMED', /JSON/],
    ['', { text: 'x'.repeat(4097) }, 413, 'PAYLOAD_TOO_LARGE', /4097 characters/],
    ['?encoding=flac', { text: HELLO }, 400, 'UNSUPPORTED_FORMAT', /ffmpeg/],
  ])('refuses %s %j as Deepgram does', async (query, body, status, code, message) => {
    const answer = await post(query, body);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({
      err_code: code,
      err_msg: expect.stringMatching(message),
      request_id: answer.headers['dg-request-id'],
    });
    expect(answer.headers['dg-error']).toMatch(message);
  });

  it('refuses a wrong key in the same shape', async () => {
    await testServer.app.close();
    await open({ API_KEYS: 'key-1' });
    const answer = await post('');
    expect([answer.statusCode, answer.json<{ err_code: string }>().err_code]).toEqual([401, 'INVALID_AUTH']);
    expect((await post('', { text: HELLO }, { authorization: 'Bearer key-1' })).statusCode).toBe(200);
  });

  it('says when to come again', async () => {
    await testServer.app.close();
    await open({ SPEECH_REQUESTS_MAX: '1' });
    const other = new WebSocket(`${url.replace('http', 'ws')}/v1/audio/speech/ws`);
    await once(other, 'open');
    const answer = await post('');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '2']);
    expect(answer.json()).toMatchObject({ err_code: 'TOO_MANY_REQUESTS' });
    other.close();
  });
});

/** Ms of µ-law as numbers, messages as objects; sound that comes in several messages is one number. */
class Client {
  readonly received: unknown[] = [];
  readonly socket: WebSocket;

  constructor(query = '?encoding=mulaw', path = '/v1/speak') {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}${path}${query}`);
    this.socket.on('message', (data: Buffer, isBinary) => {
      const last = this.received.at(-1);
      if (!isBinary) this.received.push(JSON.parse(data.toString()));
      else if (typeof last === 'number') this.received[this.received.length - 1] = last + data.length / 8;
      else this.received.push(data.length / 8);
    });
  }

  async opened(): Promise<void> {
    await eventually(() => expect(this.received).not.toEqual([]));
  }

  async send(...messages: readonly (object | string | Uint8Array)[]): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) await once(this.socket, 'open');
    for (const each of messages)
      this.socket.send(typeof each === 'string' || each instanceof Uint8Array ? each : JSON.stringify(each));
  }

  async receives(expected: readonly unknown[]): Promise<void> {
    await eventually(() => expect(this.received.slice(1)).toEqual(expected));
  }

  async closed(): Promise<number> {
    const [code] = (await once(this.socket, 'close')) as [number];
    return code;
  }
}

const speak = (text: string) => ({ type: 'Speak', text });
const FLUSH = { type: 'Flush' };
const flushed = (sequence_id: number) => ({ type: 'Flushed', sequence_id });

describe('WS /v1/speak', () => {
  it('tells first who speaks', async () => {
    const client = new Client('?encoding=mulaw&model=aura-2-thalia-en');
    const [response] = (await once(client.socket, 'upgrade')) as [{ headers: Record<string, string> }];
    await client.opened();
    expect(client.received).toEqual([
      {
        type: 'Metadata',
        request_id: response.headers['dg-request-id'],
        model_name: 'rms',
        model_version: 'fake-tts-1',
        model_uuid: expect.any(String),
        additional_model_uuids: [],
      },
    ]);
    client.socket.close();
  });

  it('speaks words as they come, and says behind their sound that a flush is done', async () => {
    const client = new Client();
    await client.send(speak('Hello '), speak('there'), speak('.'), FLUSH, speak('Two.'), FLUSH);
    await client.receives([240, flushed(0), 80, flushed(1)]);
    expect(testServer.engine.spoken.map(({ text, urgency }) => [text, urgency])).toEqual([
      ['Hello there.', 'speak'],
      ['Two.', 'speak'],
    ]);
    client.socket.close();
  });

  it('speaks a sentence as soon as the next one begins', async () => {
    const client = new Client();
    await client.send(speak('Hello there. And'));
    await client.receives([240]);
    client.socket.close();
  });

  it('answers each flush once, also those without text or without anything to say', async () => {
    const client = new Client();
    await client.send(FLUSH, speak('...'), FLUSH, FLUSH, speak('Two.'), FLUSH);
    await client.receives([flushed(0), flushed(1), flushed(2), 80, flushed(3)]);
    client.socket.close();
  });

  it('drops what it has not said when it is cleared, and goes on', async () => {
    testServer.engine.speakMs = 1000;
    const client = new Client();
    await client.send(speak('Hello there.'), FLUSH);
    await eventually(() => expect(testServer.engine.spoken).toHaveLength(1));
    await client.send({ type: 'Clear' }, speak('Two.'), FLUSH);
    await client.receives([{ type: 'Cleared', sequence_id: 0 }]);
    await eventually(() => expect(testServer.engine.spoken).toHaveLength(2));
    testServer.clock.advance(1000);
    await client.receives([{ type: 'Cleared', sequence_id: 0 }, 80, flushed(1)]);
    client.socket.close();
  });

  it('says the rest and closes with 1000 when the client closes', async () => {
    const client = new Client();
    await client.send(speak('Hello there.'), { type: 'Close' });
    expect(await client.closed()).toBe(1000);
    expect(client.received.slice(1)).toEqual([240]);
  });

  it('warns of what it cannot obey, and goes on', async () => {
    const client = new Client();
    await client.send('rubbish', { type: 'Sing' }, { type: 'Speak' }, speak('Two.'), FLUSH);
    const warning = (description: RegExp) => ({
      type: 'Warning',
      description: expect.stringMatching(description),
      code: 'MESSAGE_MALFORMED',
      warn_code: 'MESSAGE_MALFORMED',
      warn_msg: expect.stringMatching(description),
    });
    await client.receives([warning(/JSON/), warning(/"Sing"/), warning(/^text/), 80, flushed(0)]);
    await client.send(new Uint8Array(3));
    await eventually(() => expect(client.received.at(-1)).toMatchObject({ code: 'MESSAGE_BINARY' }));
    client.socket.close();
  });

  it.each([
    ['?encoding=mp3', 400, 'encoding'],
    ['?encoding=linear16&sample_rate=7', 400, 'sample_rate'],
  ])('refuses %s in the handshake', async (query, status, what) => {
    const client = new Client(query);
    client.socket.on('error', () => undefined);
    const [, response] = (await once(client.socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number; headers: Record<string, string> },
    ];
    expect([response.statusCode, response.headers['dg-error']]).toEqual([status, expect.stringContaining(what)]);
  });

  it('refuses one client too many in the handshake', async () => {
    await testServer.app.close();
    await open({ LISTENERS_MAX: '1' });
    const first = new Client();
    await first.opened();
    const second = new Client();
    second.socket.on('error', () => undefined);
    const [, response] = (await once(second.socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(503);
    first.socket.close();
    await once(first.socket, 'close');
    await eventually(async () => {
      const third = new Client();
      third.socket.on('error', () => undefined);
      await once(third.socket, 'open');
      third.socket.close();
    });
  });

  it('makes nothing for a client that has gone', async () => {
    testServer.engine.speakMs = 1000;
    const client = new Client();
    await client.send(speak('Hello there. This is two. And three.'), FLUSH);
    await eventually(() => expect(testServer.engine.spoken).toHaveLength(1));
    client.socket.terminate();
    await eventually(async () =>
      expect((await testServer.metrics.listeners.get()).values.every(({ value }) => value === 0)).toBe(true),
    );
    testServer.clock.advance(1000);
    expect(testServer.engine.spoken).toHaveLength(1);
  });

  it('leaves out what the engine cannot speak, and says so', async () => {
    testServer.engine.utter = ({ text }) => {
      if (text === 'Two.') throw new EngineError('bad_input', 'no such word');
      return new Int16Array(320 * text.length);
    };
    const client = new Client();
    await client.send(speak('Hello there. '), speak('Two. '), speak('Six.'), FLUSH);
    await client.receives([240, expect.objectContaining({ type: 'Warning', code: 'SPEECH_SKIPPED' }), 80, flushed(0)]);
    client.socket.close();
  });

  it('serves ten clients at once', async () => {
    const clients = Array.from({ length: 10 }, () => new Client());
    await Promise.all(clients.map((client) => client.send(speak('Hello '), speak('there.'), FLUSH)));
    await Promise.all(clients.map((client) => client.receives([240, flushed(0)])));
    for (const { socket } of clients) socket.close();
  });
});

/** Of a turn that begins, ends, and of all turns. */
const started = { type: 'SpeechStarted', speech_id: expect.stringMatching(/^dg_sp_[0-9a-f]{12}$/) };
const metadata = (audio_duration_ms: number, chars: number) => ({
  type: 'SpeechMetadata',
  speech_id: started.speech_id,
  audio_duration_ms,
  input_character_count: chars,
  billable_character_count: chars,
  controls_applied: { pronunciations_applied: 0, pronunciation_warnings: 0 },
});
const turnFlushed = { type: 'Flushed', speech_id: started.speech_id };
const totals = (total_audio_duration_ms: number, chars: number) => ({
  type: 'SessionMetadata',
  total_audio_duration_ms,
  total_input_character_count: chars,
  total_billable_character_count: chars,
});

describe('/v2/speak', () => {
  const open2 = (query = '?model=flux-alexis-en&encoding=mulaw') => new Client(query, '/v2/speak');

  it('tells first who speaks', async () => {
    const client = open2();
    const [response] = (await once(client.socket, 'upgrade')) as [{ headers: Record<string, string> }];
    await client.opened();
    expect(client.received).toEqual([
      {
        type: 'Connected',
        request_id: response.headers['dg-request-id'],
        model_name: 'rms',
        model_version: 'fake-tts-1',
        model_uuids: [expect.any(String)],
      },
    ]);
    client.socket.close();
  });

  it('begins a turn with its first text, and ends it behind the sound of its flush with what it was', async () => {
    const client = open2();
    await client.send(speak('Hello '), speak('there.'), FLUSH, speak('Two.'), FLUSH, { type: 'Close' });
    expect(await client.closed()).toBe(1000);
    expect(client.received.slice(1)).toEqual([
      ...[started, 240, metadata(240, 12), turnFlushed],
      ...[started, 80, metadata(80, 4), turnFlushed],
      totals(320, 16),
    ]);
    const ids = client.received.flatMap((each) => (each as { speech_id?: string }).speech_id ?? []);
    expect([new Set(ids.slice(0, 3)).size, new Set(ids.slice(3)).size, new Set(ids).size]).toEqual([1, 1, 2]);
  });

  it('says the rest when the client closes, and counts it', async () => {
    const client = open2();
    await client.send(speak('Hello there.'), { type: 'Close' });
    expect(await client.closed()).toBe(1000);
    expect(client.received.slice(1)).toEqual([started, 240, totals(240, 12)]);
  });

  it('warns of a flush without text, and of what is no message here, and goes on', async () => {
    const client = open2();
    await client.send(FLUSH, speak(''), FLUSH, { type: 'Clear' }, speak('Two.'), FLUSH);
    const warning = (code: string, description: RegExp) => ({
      type: 'Warning',
      code,
      description: expect.stringMatching(description),
    });
    const none = warning('NO_ACTIVE_SPEECH', /^got Flush without any text/);
    const unknown = warning('MESSAGE_MALFORMED', /"Clear", expected Speak, Flush or Close$/);
    await client.receives([none, none, unknown, started, 80, metadata(80, 4), turnFlushed]);
    client.socket.close();
  });

  it('says why it closes with a code of Deepgram', async () => {
    testServer.engine.utter = () => {
      throw new Error('broken');
    };
    const client = open2();
    await client.send(speak('Two.'), FLUSH);
    await client.closed();
    expect(client.received.at(-1)).toEqual({
      type: 'Error',
      code: 'NET-0000',
      description: expect.any(String),
    });
  });

  it('refuses what /v1/speak refuses', async () => {
    const client = open2('?model=flux-alexis-en&encoding=mp3');
    client.socket.on('error', () => undefined);
    const [, response] = (await once(client.socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(400);
  });

  it('answers a POST with the file', async () => {
    testServer.engine.voices = [FAKE_VOICE, { ...FAKE_VOICE, name: 'carmen', language: 'es-ES' }];
    const answer = await testServer.app.inject({
      method: 'POST',
      url: '/v2/speak?model=flux-celeste-es&encoding=mulaw&container=none',
      payload: { text: HELLO },
    });
    expect([answer.statusCode, answer.rawPayload.length / 8]).toEqual([200, HELLO_MS]);
    expect(answer.headers).toMatchObject({ 'dg-model-name': 'carmen', 'dg-char-count': '12' });
  });
});
