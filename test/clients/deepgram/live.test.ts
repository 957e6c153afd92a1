import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { encodeG711 } from '../../../src/audio/g711.ts';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import { Resampler } from '../../../src/audio/resample.ts';
import { writeWav } from '../../../src/audio/wav.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { ALAW_8K, MULAW_8K } from '../../../src/foundation/units.ts';
import { concat, silence, spoken } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';

interface Message {
  readonly type: string;
  readonly is_final?: boolean;
  readonly speech_final?: boolean;
  readonly from_finalize?: boolean;
  readonly channel_index?: readonly number[];
  readonly channel?: { readonly alternatives: readonly { readonly transcript: string }[] };
  readonly event?: string;
  readonly transcript?: string;
  readonly duration?: number;
}

/** Of this millennium: the monotonic clock begins in 1970. */
const WALL_CLOCK = /^20\d\d-/;
const LINEAR = 'encoding=linear16&sample_rate=16000&punctuate=true';

let testServer: TestServer;
const clients: Client[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await testServer.app.close();
});

class Client {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  closed: { code: number; reason: string } | null = null;

  constructor(url: string, protocols: string[] = [], options: ClientOptions = {}) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, options);
    this.socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as Message));
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    clients.push(this);
  }

  of(type: string): Message[] {
    return this.messages.filter((message) => message.type === type);
  }

  get finals(): string[] {
    return this.of('Results')
      .filter((message) => message.is_final)
      .map(textOf);
  }

  /** In messages of an odd number of bytes. */
  speak(samples: Int16Array): void {
    this.sendAll(samplesToPcm16(samples));
  }

  sendAll(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += 4001) this.socket.send(bytes.subarray(from, from + 4001));
  }

  tell(type: string, fields: object = {}): void {
    this.socket.send(JSON.stringify({ type, ...fields }));
  }

  async ended(): Promise<{ code: number; reason: string } | null> {
    await eventually(() => expect(this.closed).not.toBeNull());
    return this.closed;
  }
}

function textOf({ channel }: Message): string {
  return channel?.alternatives[0]?.transcript ?? '?';
}

async function open(query: string, environment: Record<string, string> = {}, path = '/v1/listen'): Promise<Client> {
  testServer = await startServer(environment);
  return join(query, path);
}

async function join(query: string, path = '/v1/listen'): Promise<Client> {
  const address = testServer.app.server.address();
  const url =
    typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : await listen(testServer.app);
  const client = new Client(`${url}${path}?${query}`);
  await once(client.socket, 'open');
  return client;
}

interface Refusal {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

async function refusal(query: string, environment: Record<string, string> = {}, path = '/v1/listen'): Promise<Refusal> {
  testServer ??= await startServer(environment);
  const url = await listen(testServer.app);
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}?${query}`);
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

describe('WS /v1/listen', () => {
  it('shows what is being said, ends it with silence, and closes with 1000 after all is told', async () => {
    const client = await open(`${LINEAR}&interim_results=true&vad_events=true`);
    client.speak(concat(spoken([1, 2, 3, 4]), silence(50)));
    await eventually(() => expect(client.of('Results')).not.toEqual([]));
    client.speak(concat(spoken([5]), silence(900)));
    await eventually(() => expect(client.finals).toEqual(['W1 w2 w3 w4 w5.']));
    expect(client.messages[0]).toMatchObject({ type: 'SpeechStarted', channel: [0, 1] });
    expect(client.of('Results')[0]).toMatchObject({ is_final: false, speech_final: false, from_finalize: false });
    expect(client.of('Results').at(-1)).toMatchObject({ is_final: true, speech_final: true, from_finalize: false });
    client.tell('KeepAlive');
    client.tell('CloseStream');
    expect(await client.ended()).toEqual({ code: 1000, reason: '' });
    expect(client.messages.at(-1)).toMatchObject({
      type: 'Metadata',
      transaction_key: 'deprecated',
      created: expect.stringMatching(WALL_CLOCK),
      channels: 1,
      sha256: expect.stringMatching(/^[\da-f]{64}$/),
    });
    expect(new Set(testServer.engine.transcribed.map(({ urgency }) => urgency)).has('batch')).toBe(false);
  });

  it('tells finals alone unless more was asked for', async () => {
    const client = await open(LINEAR);
    client.speak(concat(spoken([1, 2, 3, 4]), silence(900)));
    await eventually(() => expect(client.finals).toHaveLength(1));
    expect(client.messages).toHaveLength(1);
  });

  it('answers each Finalize at once, with what was said or with nothing', async () => {
    const client = await open(LINEAR);
    client.tell('Finalize');
    await eventually(() => expect(client.of('Results')).toMatchObject([{ from_finalize: true, is_final: true }]));
    client.speak(spoken([5, 6]));
    client.tell('Finalize');
    await eventually(() => expect(client.finals).toEqual(['', 'W5 w6.']));
    expect(client.of('Results').at(-1)).toMatchObject({ from_finalize: true, speech_final: false });
    client.tell('Finalize');
    await eventually(() => expect(client.finals).toEqual(['', 'W5 w6.', '']));
  });

  it('goes on in one time after a Finalize', async () => {
    const client = await open(LINEAR);
    client.speak(concat(spoken([1, 2]), silence(100)));
    client.tell('Finalize');
    client.speak(concat(spoken([3, 4]), silence(900)));
    await eventually(() => expect(client.finals).toEqual(['W1 w2.', 'W3 w4.']));
    const [first, second] = client.of('Results') as unknown as { start: number; duration: number }[];
    expect(second?.start).toBeGreaterThanOrEqual((first?.start ?? 0) + (first?.duration ?? 0));
  });

  it('tells the last words before the end', async () => {
    const client = await open(LINEAR);
    client.speak(spoken([1, 2]));
    client.tell('CloseStream');
    await client.ended();
    expect(client.messages.map(({ type }) => type)).toEqual(['Results', 'Metadata']);
    expect(client.finals).toEqual(['W1 w2.']);
  });

  it.each([
    ['mulaw', MULAW_8K],
    ['alaw', ALAW_8K],
  ])('takes %s', async (encoding, codec) => {
    const client = await open(`encoding=${encoding}&sample_rate=8000&punctuate=true`);
    const resampler = new Resampler(16_000, 8000);
    const narrow = concat(resampler.push(concat(spoken([1, 2, 3]), silence(900))), resampler.flush());
    client.sendAll(encodeG711(narrow, codec));
    await eventually(() => expect(client.finals).toHaveLength(1));
  });

  it('reads each channel by itself, or both as one', async () => {
    const one = spoken([1, 2]);
    const two = spoken([3, 4]);
    const both = new Int16Array(2 * (one.length + 16_000));
    for (let at = 0; at < one.length; at++) {
      both[2 * at] = one[at] as number;
      both[2 * at + 1] = two[at] as number;
    }
    const client = await open(`${LINEAR}&channels=2&multichannel=true`);
    client.speak(both);
    await eventually(() => expect(client.finals.sort()).toEqual(['W1 w2.', 'W3 w4.']));
    expect(client.of('Results').map(({ channel_index }) => channel_index)).toEqual(
      expect.arrayContaining([
        [0, 2],
        [1, 2],
      ]),
    );
    const mixed = await join(`${LINEAR}&channels=2`);
    mixed.speak(both);
    await eventually(() => expect(mixed.finals).toEqual(['W2 w3.']));
    expect(mixed.of('Results')[0]?.channel_index).toEqual([0, 1]);
  });

  it('reads a WAV file where no encoding is named', async () => {
    const client = await open('punctuate=true');
    client.tell('Finalize');
    client.sendAll(writeWav([concat(spoken([1, 2]), silence(900))], 16_000));
    await eventually(() => expect(client.finals).toEqual(['', 'W1 w2.']));
  });

  it.each(['short.mp3', 'short.flac', 'short.ogg'])(
    'reads %s as fast as it comes, and orders behind it',
    async (name) => {
      const client = await open('punctuate=true');
      client.sendAll(readFileSync(packagePath('fixtures', 'audio', name)));
      client.tell('Finalize');
      await eventually(() => expect(client.messages.find(({ from_finalize }) => from_finalize)).toBeDefined());
      client.tell('CloseStream');
      expect(await client.ended()).toMatchObject({ code: 1000 });
      const { duration } = client.messages.at(-1) ?? {};
      expect(duration).toBeGreaterThan(2.6);
      expect(duration).toBeLessThan(3);
    },
  );

  it('reads MP3 without end no faster than it is transcribed', async () => {
    const client = await open('punctuate=true');
    const mp3 = readFileSync(packagePath('fixtures', 'audio', 'short.mp3'));
    for (let times = 0; times < 20; times++) client.sendAll(mp3);
    client.tell('CloseStream');
    expect(await client.ended()).toMatchObject({ code: 1000 });
    expect(client.messages.at(-1)?.duration).toBeGreaterThan(50);
  });

  it('says why a compressed stream cannot be read, also one that ends before it is known', async () => {
    const client = await open('model=nova-3');
    client.socket.send(Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(4000, 0xa5)]));
    client.tell('CloseStream');
    const reason = expect.stringMatching(/^DATA-0000: the file cannot be decoded/);
    expect(await client.ended()).toEqual({ code: 1008, reason });
    const other = await join('model=nova-3');
    other.socket.send(Buffer.alloc(100, 0x80));
    other.tell('CloseStream');
    expect(await other.ended()).toMatchObject({ code: 1008, reason: expect.stringMatching(/no known format/) });
  });

  it('closes with DATA-0000 where it comes neither as a WAV file nor as it was said to', async () => {
    const client = await open('model=nova-3');
    client.socket.send(Buffer.from('{"text": "in a binary message of more than a few bytes"}'));
    expect(await client.ended()).toEqual({ code: 1008, reason: expect.stringMatching(/^DATA-0000: got text, exp/) });
    const other = await join(LINEAR);
    other.socket.send('no JSON');
    expect(await other.ended()).toEqual({ code: 1008, reason: 'DATA-0000' });
  });

  it('closes with NET-0001 when nothing comes, which KeepAlive prevents', async () => {
    const client = await open(LINEAR, { MEDIA_TIMEOUT_MS: '10000' });
    const { clock } = testServer;
    clock.advance(9000);
    client.tell('KeepAlive');
    client.tell('Finalize');
    await eventually(() => expect(client.of('Results')).toHaveLength(1));
    clock.advance(9000);
    expect(client.closed).toBeNull();
    clock.advance(1500);
    expect(await client.ended()).toEqual({ code: 1011, reason: 'NET-0001' });
  });

  it('closes with 1009 for a message that is too large', async () => {
    const client = await open(LINEAR);
    client.socket.send(Buffer.alloc(1_048_577));
    expect(await client.ended()).toMatchObject({ code: 1009 });
  });

  it('passes over an empty message and types that it does not know, and tells the log once', async () => {
    const client = await open(`${LINEAR}&no_delay=true&filler_words=false`);
    client.socket.send(Buffer.alloc(0));
    client.tell('Dance');
    client.tell('Dance');
    client.speak(concat(spoken([1, 2]), silence(900)));
    await eventually(() => expect(client.finals).toEqual(['W1 w2.']));
    const told = testServer.logLines.filter((line) => /passed over/.test(line));
    expect(told.filter((line) => line.includes('Dance'))).toHaveLength(1);
    expect(told.filter((line) => line.includes('no_delay'))).toHaveLength(1);
  });

  it('tells UtteranceEnd when no word has come for as long as was asked', async () => {
    const client = await open(`${LINEAR}&interim_results=true&utterance_end_ms=1000`);
    client.speak(concat(spoken([1, 2]), silence(600)));
    await eventually(() => expect(client.finals).toEqual(['W1 w2.']));
    client.speak(silence(1500));
    client.speak(silence(500));
    await eventually(() => expect(client.of('UtteranceEnd')).toMatchObject([{ channel: [0, 1] }]));
  });

  it('never says speech_final with endpointing=false', async () => {
    const client = await open(`${LINEAR}&endpointing=false`);
    client.speak(concat(spoken([1, 2]), silence(2000), spoken([3]), silence(2000)));
    client.tell('CloseStream');
    await client.ended();
    expect(client.of('Results').some((message) => message.speech_final)).toBe(false);
    expect(client.finals).toHaveLength(1);
  });

  it('takes other words while it runs, and says what it cannot change', async () => {
    const client = await open(LINEAR);
    client.tell('Configure', { keyterm: ['Trunkline'] });
    client.tell('Configure', { features: { punctuate: false } });
    await eventually(() =>
      expect(client.messages).toMatchObject([
        { type: 'ConfigureSuccess', keyterms: ['Trunkline'] },
        { type: 'ConfigureFailure', code: 'UNSUPPORTED_FEATURE' },
      ]),
    );
  });

  it('counts open streams', async () => {
    const client = await open(LINEAR);
    await eventually(async () =>
      expect(await testServer.metrics.registry.metrics()).toContain('trunkline_listeners{kind="deepgram"} 1'),
    );
    client.socket.terminate();
    await eventually(async () =>
      expect(await testServer.metrics.registry.metrics()).toContain('trunkline_listeners{kind="deepgram"} 0'),
    );
  });

  it('drops a client that reads no answers', async () => {
    const client = await open(LINEAR, { SEND_BUFFER_MAX_BYTES: '16384' });
    const text = Array.from({ length: 100_000 }, (_, n) => `word${n}`).join(' ');
    testServer.engine.hear = () => ({ text });
    client.socket.pause();
    for (let count = 0; count < 3; count++) {
      client.speak(spoken([1]));
      client.tell('Finalize');
    }
    await eventually(async () =>
      expect(await testServer.metrics.registry.metrics()).toContain('trunkline_listeners{kind="deepgram"} 0'),
    );
  });
});

describe('the handshake of /v1/listen', () => {
  it.each([
    ['language=tlh', 400, 'UNSUPPORTED_LANGUAGE', /language/],
    ['encoding=g729', 400, 'INVALID_REQUEST', /encoding/],
    ['encoding=opus&channels=3', 400, 'INVALID_REQUEST', /channels/],
    ['encoding=linear16', 400, 'INVALID_REQUEST', /sample_rate/],
    ['call=nobody', 404, 'CALL_NOT_FOUND', /call/],
  ])('refuses %s with %i', async (query, status, code, message) => {
    testServer = await startServer();
    const refused = await refusal(query);
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ err_code: code, err_msg: expect.stringMatching(message) });
    expect(refused.headers).toMatchObject({
      'dg-request-id': refused.body['request_id'],
      'dg-error': expect.stringMatching(message),
    });
  });

  it('asks for a key', async () => {
    testServer = await startServer({ API_KEYS: 'a-key-of-the-operator' });
    const refused = await refusal(LINEAR);
    expect(refused).toMatchObject({ status: 401, body: { err_code: 'INVALID_AUTH' } });
  });

  it('says that all places are taken, and when to come again', async () => {
    const client = await open(LINEAR, { LISTENERS_MAX: '1' });
    const second = new WebSocket(client.socket.url);
    second.on('error', () => undefined);
    const [, response] = await once(second, 'unexpected-response');
    response.resume();
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBe('2');
  });

  it('names the request as Deepgram does', async () => {
    testServer = await startServer();
    const url = await listen(testServer.app);
    const client = new Client(`${url}/v1/listen?${LINEAR}`);
    const [response] = await once(client.socket, 'upgrade');
    expect(response.headers['dg-request-id']).toBe(response.headers['x-request-id']);
  });
});

describe('WS /v2/listen', () => {
  const FLUX = 'model=flux-general-en&encoding=linear16&sample_rate=16000';

  it('tells turns from their first words to their end', async () => {
    const client = await open(`${FLUX}&eager_eot_threshold=0.4`, {}, '/v2/listen');
    client.speak(concat(spoken([1, 2, 3, 4]), silence(300)));
    await eventually(() => expect(client.messages.at(-1)).toMatchObject({ event: 'EagerEndOfTurn' }));
    client.speak(silence(600));
    await eventually(() => expect(client.messages.at(-1)).toMatchObject({ event: 'EndOfTurn' }));
    expect(client.messages[0]).toMatchObject({ type: 'Connected', sequence_id: 0 });
    const events = client.of('TurnInfo').map(({ event }) => event);
    expect(events[0]).toBe('StartOfTurn');
    expect(events.slice(-2)).toEqual(['EagerEndOfTurn', 'EndOfTurn']);
    expect(client.messages.at(-1)).toMatchObject({ transcript: 'W1 w2 w3 w4.', turn_index: 0 });
    client.tell('CloseStream');
    expect(await client.ended()).toMatchObject({ code: 1000 });
  });

  it('says when a speaker goes on after all', async () => {
    const client = await open(`${FLUX}&eager_eot_threshold=0.4`, {}, '/v2/listen');
    client.speak(concat(spoken([1, 2]), silence(300)));
    await eventually(() => expect(client.messages.at(-1)).toMatchObject({ event: 'EagerEndOfTurn' }));
    client.speak(concat(spoken([3]), silence(900)));
    await eventually(() => expect(client.messages.at(-1)).toMatchObject({ event: 'EndOfTurn' }));
    expect(client.of('TurnInfo').map(({ event }) => event)).toContain('TurnResumed');
    expect(client.messages.at(-1)).toMatchObject({ transcript: 'W1 w2 w3.' });
  });

  it('ends a turn at once where the client says so, and passes over a wish without one', async () => {
    const client = await open(FLUX, {}, '/v2/listen');
    client.tell('ForceEndTurn');
    client.speak(spoken([1, 2, 3]));
    client.tell('ForceEndTurn');
    await eventually(() => expect(client.messages.at(-1)).toMatchObject({ event: 'EndOfTurn' }));
    expect(client.messages.at(-1)).toMatchObject({ transcript: 'W1 w2 w3.', turn_index: 0, trigger: 'manual' });
    client.speak(concat(spoken([4, 5]), silence(900)));
    await eventually(() => expect(client.messages.at(-1)).toMatchObject({ event: 'EndOfTurn', turn_index: 1 }));
    expect(client.messages.at(-1)).toMatchObject({ transcript: 'W4 w5.', trigger: 'model' });
  });

  it('ends the turn that is open at the end', async () => {
    const client = await open(FLUX, {}, '/v2/listen');
    client.speak(spoken([1, 2, 3]));
    client.tell('CloseStream');
    await client.ended();
    expect(client.messages.at(-1)).toMatchObject({ event: 'EndOfTurn', transcript: 'W1 w2 w3.' });
  });

  it('is changed while it runs', async () => {
    const client = await open(FLUX, {}, '/v2/listen');
    client.tell('Configure', { thresholds: { eager_eot_threshold: 0.4 }, keyterms: ['Trunkline'] });
    client.tell('Configure', { thresholds: { eager_eot_threshold: 0.9 }, features: { numerals: true } });
    client.speak(concat(spoken([1, 2]), silence(300)));
    await eventually(() => expect(client.messages.at(-1)).toMatchObject({ event: 'EagerEndOfTurn' }));
    expect(client.of('ConfigureSuccess')).toHaveLength(1);
  });

  it('refuses what it does not take in the handshake', async () => {
    testServer = await startServer();
    expect(await refusal(`${FLUX}&eot_threshold=2`, {}, '/v2/listen')).toMatchObject({ status: 400 });
  });
});
