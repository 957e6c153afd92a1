import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import { Resampler } from '../../../src/audio/resample.ts';
import { concat, silence, spoken } from '../../fakes/engine.ts';
import { eventually } from '../../helpers/eventually.ts';
import { listen, startServer, type TestServer, upgradeStatus } from '../../http/test-server.ts';
import { RealtimeClient } from './realtime-client.ts';

let server: TestServer;
let url = '';
const clients: RealtimeClient[] = [];

async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  server = await startServer(environment);
  url = `${await listen(server.app)}/v1/realtime?intent=transcription`;
}

async function open(session: object = {}): Promise<RealtimeClient> {
  const client = await RealtimeClient.open(url, session);
  clients.push(client);
  return client;
}

beforeEach(() => start());
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.terminate();
  await server.app.close();
});

/**
 * The fields without which OpenAI's agents SDKs take no notice of an event, or report an error: found by leaving out
 * one after the other.
 */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'session.created': ['event_id', 'session.type', 'session.audio.input.turn_detection.type'],
  'session.updated': ['event_id', 'session.type', 'session.audio.input.turn_detection.type'],
  'input_audio_buffer.speech_started': ['event_id', 'audio_start_ms', 'item_id'],
  'input_audio_buffer.speech_stopped': ['event_id', 'audio_end_ms', 'item_id'],
  'input_audio_buffer.committed': ['event_id', 'item_id'],
  'conversation.item.added': ['event_id', 'item.type', 'item.role', 'item.content.0.type'],
  'conversation.item.done': ['event_id', 'item.type', 'item.role', 'item.content.0.type'],
  'conversation.item.input_audio_transcription.delta': ['event_id', 'item_id', 'delta'],
  'conversation.item.input_audio_transcription.completed': [
    'event_id',
    'item_id',
    'content_index',
    'transcript',
    'usage.type',
    'usage.seconds',
  ],
  'conversation.item.retrieved': ['event_id', 'item.type', 'item.role', 'item.content.0.transcript'],
};

function fieldOf(event: object, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], event);
}

const SENTENCE = concat(spoken([1, 2, 3, 4]), silence(900));

describe('a key for a browser', () => {
  const KEY = 'a-long-secret-key';

  async function ask(body: object): Promise<{ value: string; expires_at: number; session: object }> {
    const response = await server.app.inject({
      method: 'POST',
      url: '/v1/realtime/client_secrets',
      headers: { authorization: `Bearer ${KEY}` },
      payload: body,
    });
    expect(response.statusCode).toBe(200);
    return response.json();
  }

  beforeEach(async () => {
    await server.app.close();
    await start({ API_KEYS: KEY });
  });

  it('opens sessions that begin as it says, as a subprotocol, from a page of any site', async () => {
    const session = { type: 'transcription', audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } } } };
    const { value, session: told } = await ask({ expires_after: { anchor: 'created_at', seconds: 60 }, session });
    expect(value).toMatch(/^ek_/);
    expect(told).toMatchObject({ type: 'transcription', object: 'realtime.transcription_session' });
    const protocols = ['realtime', `openai-insecure-api-key.${value}`];
    const client = new RealtimeClient(url.replace('?intent=transcription', ''), protocols, {
      headers: { origin: 'https://elsewhere.example' },
    });
    clients.push(client);
    await once(client.socket, 'open');
    expect(client.socket.protocol).toBe('realtime');
    client.speak(SENTENCE);
    await eventually(() => expect(client.transcripts).toEqual(['W1 w2 w3 w4.']));
    expect(client.events[0]).toMatchObject({ session });
    expect(server.logLines.join('')).not.toContain(value);
  });

  it('holds for its time, and for audio and speech alone', async () => {
    const { value } = await ask({ expires_after: { seconds: 60 } });
    const headers = { authorization: `Bearer ${value}` };
    expect(await upgradeStatus(url, headers)).toBe(101);
    expect((await server.app.inject({ url: '/v1/calls', headers })).statusCode).toBe(403);
    server.clock.advance(60_001);
    expect(await upgradeStatus(url, headers)).toBe(401);
    expect(await upgradeStatus(url)).toBe(401);
  });

  it('is refused to who has none, and for a life that is too long', async () => {
    const refused = await server.app.inject({ method: 'POST', url: '/v1/realtime/client_secrets', payload: {} });
    expect(refused.statusCode).toBe(401);
    const tooLong = await server.app.inject({
      method: 'POST',
      url: '/v1/realtime/client_secrets',
      headers: { authorization: `Bearer ${KEY}` },
      payload: { expires_after: { seconds: 7201 } },
    });
    expect(tooLong.statusCode).toBe(400);
  });
});

describe('WS /v1/realtime', () => {
  it('greets, tells what holds, and transcribes in the order that clients need', async () => {
    const client = await open();
    // In one message: nothing is read of it before its end.
    client.append(samplesToPcm16(SENTENCE));
    await eventually(() => expect(client.transcripts).toEqual(['W1 w2 w3 w4.']));
    const once = client.types.filter((type, at, all) => type !== all[at - 1]);
    expect(once).toEqual([
      'session.created',
      'session.updated',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'transcription.delta',
      'transcription.completed',
    ]);
    expect(new Set(client.events.map(({ event_id: id }) => id)).size).toBe(client.events.length);
    const deltas = client.of('conversation.item.input_audio_transcription.delta').map(({ delta }) => delta);
    expect(deltas.join('')).toBe('W1 w2 w3 w4.');
    expect(client.events[0]).toMatchObject({ session: { type: 'transcription', audio: { input: {} } } });
    expect(client.events[1]).toMatchObject({
      session: { audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } } } },
    });
  });

  it('sends every field that clients cannot do without', async () => {
    const client = await open();
    client.speak(SENTENCE);
    await eventually(() => expect(client.transcripts).toHaveLength(1));
    const [id] = client.of('input_audio_buffer.committed').map((event) => event['item_id']);
    client.send({ type: 'conversation.item.retrieve', item_id: id });
    await eventually(() => expect(client.types).toContain('conversation.item.retrieved'));
    const events = Object.keys(REQUIRED).map((type) => client.of(type)[0]);
    expect(events).not.toContain(undefined);
    const missing = client.events.flatMap((event) =>
      (REQUIRED[event.type] ?? [`unexpected ${event.type}`])
        .filter((path) => (fieldOf(event, path) ?? null) === null)
        .map((path) => `${event.type} lacks ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('hears ten at once', async () => {
    const speakers = await Promise.all(Array.from({ length: 10 }, () => open()));
    for (const [n, speaker] of speakers.entries()) speaker.speak(concat(spoken([n + 1, n + 2]), silence(900)));
    await eventually(() =>
      expect(speakers.map(({ transcripts }) => transcripts)).toEqual(speakers.map((_, n) => [`W${n + 1} w${n + 2}.`])),
    );
  });

  it('drops a client that never reads', async () => {
    await server.app.close();
    await start({ SEND_BUFFER_MAX_BYTES: '65536' });
    const client = await open();
    await eventually(() => expect(client.types).toContain('session.updated'));
    client.socket.pause();
    const item = { role: 'user', content: [{ type: 'input_text', text: 'x'.repeat(60_000) }] };
    for (let n = 0; n < 400; n++) client.send({ type: 'conversation.item.create', item });
    await eventually(async () => {
      const { values } = await server.metrics.refused.get();
      expect(values).toContainEqual(expect.objectContaining({ labels: { code: 'reader_too_slow' }, value: 1 }));
    });
  });

  it('gives the final text when a client asks for an item again', async () => {
    const client = await open();
    client.speak(SENTENCE);
    await eventually(() => expect(client.transcripts).toHaveLength(1));
    const [id] = client.of('input_audio_buffer.committed').map((event) => event['item_id']);
    client.send({ type: 'conversation.item.retrieve', item_id: 'item_unknown' });
    client.send({ type: 'conversation.item.retrieve', item_id: id });
    await eventually(() =>
      expect(client.of('conversation.item.retrieved')).toMatchObject([
        { item: { id, content: [{ type: 'input_audio', transcript: 'W1 w2 w3 w4.' }] } },
      ]),
    );
  });

  it('waits for a commit without turn detection, and joins what was said up to it', async () => {
    const client = await open();
    client.update({ turn_detection: null });
    client.speak(concat(spoken([1, 2]), silence(1500), spoken([3]), silence(100)));
    client.send({ type: 'input_audio_buffer.commit' });
    await eventually(() => expect(client.transcripts).toEqual(['W1 w2 w3.']));
    expect(client.types.some((type) => type.includes('speech_'))).toBe(false);
    client.send({ type: 'input_audio_buffer.commit' });
    await eventually(() => expect(client.transcripts).toEqual(['W1 w2 w3.', '']));
    expect(client.of('error')).toEqual([]);
  });

  it('forgets what is cleared', async () => {
    const client = await open();
    client.update({ turn_detection: null });
    client.speak(spoken([7]));
    client.send({ type: 'input_audio_buffer.clear' });
    client.speak(concat(spoken([8]), silence(100)));
    client.send({ type: 'input_audio_buffer.commit' });
    await eventually(() => expect(client.transcripts).toEqual(['W8.']));
    expect(client.types).toContain('input_audio_buffer.cleared');
  });

  it('ends speech after the silence that a client asks for', async () => {
    const client = await open();
    client.update({ turn_detection: { type: 'server_vad', silence_duration_ms: 1200 } });
    client.speak(concat(spoken([1]), silence(900), spoken([2]), silence(1500)));
    await eventually(() => expect(client.transcripts).toEqual(['W1 w2.']));
  });

  it('asks the turn model for the end of a turn where meaning is to decide', async () => {
    server.engine.turnModel = 'fake';
    server.engine.decide = ({ samples }) => (samples.length > 16_000 ? 1 : 0);
    const client = await open();
    client.update({ turn_detection: { type: 'semantic_vad', eagerness: 'high' } });
    client.speak(concat(spoken([1, 2]), silence(250)));
    await eventually(() => expect(server.engine.turns).toHaveLength(1));
    client.speak(concat(silence(250), spoken([3, 4, 5]), silence(2500)));
    await eventually(() => expect(client.transcripts).toEqual(['W1 w2. W3 w4 w5.']));
  });

  it.each([
    ['audio/pcm', 24_000],
    ['audio/pcm', 8000],
  ])('hears %s at %i Hz', async (type, rate) => {
    const client = await open();
    client.update({ format: { type, rate } });
    client.speak(new Resampler(16_000, rate).push(SENTENCE));
    await eventually(() => expect(client.transcripts).toHaveLength(1));
    const heardMs = (server.engine.transcribed.at(-1)?.samples.length ?? 0) / 16;
    expect(heardMs).toBeGreaterThan(900);
    expect(heardMs).toBeLessThan(1500);
  });

  it('goes on in another format, on the same timeline', async () => {
    const client = await open();
    client.speak(SENTENCE);
    await eventually(() => expect(client.transcripts).toHaveLength(1));
    client.update({ format: { type: 'audio/pcm', rate: 8000 } });
    client.speak(new Resampler(16_000, 8000).push(concat(silence(500), SENTENCE)));
    await eventually(() => expect(client.transcripts).toHaveLength(2));
    const [first, second] = client
      .of('input_audio_buffer.speech_started')
      .map((event) => Number(event['audio_start_ms']));
    expect(first).toBe(0);
    expect(second).toBeGreaterThan(1800);
  });

  it('becomes a transcription session by its first update, whatever its address says', async () => {
    const client = new RealtimeClient(url.replace('intent=transcription', 'model=gpt-realtime'));
    clients.push(client);
    await once(client.socket, 'open');
    client.update({});
    client.speak(SENTENCE);
    await eventually(() => expect(client.transcripts).toEqual(['W1 w2 w3 w4.']));
    expect(client.events[0]).toMatchObject({ session: { type: 'realtime', model: 'gpt-realtime' } });
    expect(client.events[1]).toMatchObject({ session: { type: 'transcription' } });
  });

  it('speaks the old names to a beta client', async () => {
    const client = new RealtimeClient(url, [], { headers: { 'OpenAI-Beta': 'realtime=v1' } });
    clients.push(client);
    await once(client.socket, 'open');
    client.send({ type: 'transcription_session.update', session: { input_audio_format: 'g711_ulaw' } });
    client.append(new Uint8Array(8000).fill(0xff));
    client.send({ type: 'input_audio_buffer.commit' });
    await eventually(() =>
      expect(client.types).toEqual([
        'transcription_session.created',
        'transcription_session.updated',
        'input_audio_buffer.committed',
        'conversation.item.created',
        'transcription.completed',
      ]),
    );
    expect(client.events[1]).toMatchObject({ session: { input_audio_format: 'g711_ulaw' } });
  });

  it('answers what cannot be understood with an error, passes over what is unknown, and goes on', async () => {
    const client = await open();
    client.socket.send('no JSON');
    client.socket.send(Buffer.from([1, 2, 3]), { binary: true });
    client.send({ type: 'input_audio_buffer.append', event_id: 'mine', audio: '*' });
    client.send({ type: 'session.rewind' });
    client.send({ type: 'response.cancel' });
    client.speak(SENTENCE);
    await eventually(() => expect(client.transcripts).toHaveLength(1));
    expect(client.of('error').map(({ error }) => error)).toMatchObject([
      { type: 'invalid_request_error', code: 'invalid_json', event_id: null },
      { type: 'invalid_request_error', code: 'invalid_event', event_id: null },
      { type: 'invalid_request_error', code: 'invalid_value', param: 'audio', event_id: 'mine' },
    ]);
  });

  it('keeps items that a client creates', async () => {
    const client = await open();
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
    client.send({ type: 'conversation.item.create', item: { id: 'own', ...item } });
    client.send({ type: 'conversation.item.delete', item_id: 'own' });
    client.send({ type: 'conversation.item.delete', item_id: 'own' });
    await eventually(() =>
      expect(client.types.slice(2)).toEqual([
        'conversation.item.added',
        'conversation.item.done',
        'conversation.item.deleted',
      ]),
    );
  });

  it('stays open without sound as long as its client answers pings, and closes when it does not', async () => {
    const client = await open();
    for (let n = 0; n < 6; n++) {
      const ping = once(client.socket, 'ping');
      server.clock.advance(20_000);
      await ping;
      client.send({ type: 'input_audio_buffer.clear' });
      await eventually(() => expect(client.of('input_audio_buffer.cleared')).toHaveLength(n + 1));
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    client.socket.pause();
    server.clock.advance(60_000);
    await eventually(async () => {
      const { values } = await server.metrics.refused.get();
      expect(values).toContainEqual(expect.objectContaining({ labels: { code: 'media_timeout' }, value: 1 }));
    });
  });

  it('ends normally after its longest time', async () => {
    await server.app.close();
    await start({ REALTIME_MAX_MS: '60000', MEDIA_TIMEOUT_MS: '600000' });
    const client = await open();
    await eventually(() => expect(client.types).toContain('session.updated'));
    const closed = once(client.socket, 'close');
    server.clock.advance(59_999);
    client.send({ type: 'input_audio_buffer.clear' });
    await eventually(() => expect(client.types).toContain('input_audio_buffer.cleared'));
    server.clock.advance(60);
    expect((await closed)[0]).toBe(1000);
  });

  it('is refused in its handshake where there is no room', async () => {
    await server.app.close();
    await start({ LISTENERS_MAX: '1' });
    await open();
    expect(await upgradeStatus(url)).toBe(503);
    server.health.draining = true;
    expect(await upgradeStatus(url)).toBe(503);
  });

  it('closes on a message that is too large, and takes those of clients', async () => {
    const client = await open();
    const second = samplesToPcm16(new Int16Array(24_000 * 3));
    client.append(second);
    client.send({ type: 'input_audio_buffer.clear' });
    await eventually(() => expect(client.types).toContain('input_audio_buffer.cleared'));
    const closed = once(client.socket, 'close');
    client.socket.send('x'.repeat(262_145));
    expect((await closed)[0]).toBe(1009);
  });

  it('ends with the server, and not as a failure', async () => {
    const client = await open();
    await eventually(() => expect(client.types).toContain('session.created'));
    const closed = once(client.socket, 'close');
    await server.app.close();
    expect((await closed)[0]).toBe(1000);
  });

  it('is no call', async () => {
    const client = await open();
    client.speak(SENTENCE);
    await eventually(() => expect(client.transcripts).toHaveLength(1));
    const { values } = await server.metrics.listeners.get();
    expect(values).toContainEqual(expect.objectContaining({ labels: { kind: 'realtime' }, value: 1 }));
    expect(server.calls.accepted).toEqual([]);
  });
});
