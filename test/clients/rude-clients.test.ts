/** Clients of the sockets for speech and for jambonz that do not read, do not answer, or go while much waits. */
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { silence, spoken, written } from '../fakes/engine.ts';
import { eventually } from '../helpers/eventually.ts';
import { listen, startServer, type TestServer } from '../http/test-server.ts';

let testServer: TestServer;
let url: string;
afterEach(() => testServer.app.close());

async function open(environment: Record<string, string> = {}): Promise<void> {
  testServer = await startServer(environment);
  url = (await listen(testServer.app)).replace('http', 'ws');
}

async function connect(path: string, autoPong = true): Promise<WebSocket> {
  const socket = new WebSocket(url + path, { autoPong });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

async function openSessions(): Promise<number> {
  const { values } = await testServer.metrics.listeners.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

/** Each look is ten seconds after the one before, so that what takes a minute is seen. */
function sessionsEnd(): Promise<unknown> {
  return eventually(async () => {
    testServer.clock.advance(10_000);
    expect(await openSessions()).toBe(0);
  });
}

/** How each protocol writes a text, and the end of an utterance. */
const SPEECH = [
  ['/v1/speak', (text: string) => ({ type: 'Speak', text }), { type: 'Flush' }],
  ['/jambonz/tts', (text: string) => ({ type: 'stream', text }), { type: 'flush' }],
] as const;
/** A minute of sound for each sentence: more than the system keeps for a socket in a hundred of them. */
const MINUTE_SAMPLES = 960_000;
const SENTENCES = 100;

describe.each(SPEECH)('WS %s', (path, writing, flush) => {
  const say = (socket: WebSocket, text: string): void => {
    socket.send(JSON.stringify(writing(text)));
    socket.send(JSON.stringify(flush));
  };

  it('makes no more than a client reads, and drops one that never does', async () => {
    await open();
    testServer.engine.utter = () => new Int16Array(MINUTE_SAMPLES);
    const socket = await connect(path);
    socket.pause();
    for (let n = 0; n < SENTENCES; n++) say(socket, `Sentence ${n}.`);
    await eventually(() => expect(testServer.engine.spoken.length).toBeGreaterThan(0));
    await sessionsEnd();
    expect(testServer.engine.spoken.length).toBeLessThan(SENTENCES / 2);
    socket.terminate();
  });

  it('drops a client that answers no ping, and keeps one that does', async () => {
    await open();
    const dead = await connect(path, false);
    const alive = await connect(path);
    let pings = 0;
    alive.on('ping', () => pings++);
    const gone = once(dead, 'close');
    for (let n = 1; n <= 3; n++) {
      testServer.clock.advance(30_000);
      await eventually(() => expect(pings).toBe(n));
      say(alive, `Still here, ${n}.`);
      await eventually(() => expect(testServer.engine.spoken).toHaveLength(n));
    }
    await gone;
    await eventually(async () => expect(await openSessions()).toBe(1));
    alive.close();
  });

  it('reads no further while too much text waits, and goes on', async () => {
    await open({ SPEECH_INPUT_MAX_CHARS: '100' });
    testServer.engine.speakMs = 1000;
    const socket = await connect(path);
    let heard = 0;
    socket.on('message', (_data, isBinary) => {
      if (isBinary) heard++;
    });
    const count = 200;
    for (let n = 0; n < count; n++) say(socket, `${'word '.repeat(15)}${n}.`);
    await eventually(() => expect(testServer.engine.spoken.length).toBeGreaterThan(0));
    await eventually(() => {
      testServer.clock.advance(1000);
      expect(testServer.engine.spoken).toHaveLength(count);
    });
    await eventually(() => expect(heard).toBeGreaterThanOrEqual(count));
    socket.close();
  });

  it('notices that a client goes while too much text waits', async () => {
    await open({ SPEECH_INPUT_MAX_CHARS: '100' });
    testServer.engine.speakMs = 1000;
    const socket = await connect(path);
    for (let n = 0; n < 50; n++) say(socket, `${'word '.repeat(15)}${n}.`);
    await eventually(() => expect(testServer.engine.spoken.length).toBeGreaterThan(0));
    socket.terminate();
    await sessionsEnd();
    const { length } = testServer.engine.spoken;
    testServer.clock.advance(10_000);
    expect(testServer.engine.spoken).toHaveLength(length);
  });
});

const START = JSON.stringify({ type: 'start', language: 'en-US', interimResults: true, sampleRateHz: 16_000 });
const STOP = JSON.stringify({ type: 'stop' });

describe('WS /jambonz/stt', () => {
  it('drops a client that never reads', async () => {
    await open({ SEND_BUFFER_MAX_BYTES: '65536' });
    const text = Array.from({ length: 100_000 }, (_, n) => `word${n}`).join(' ');
    testServer.engine.hear = () => ({ text });
    const socket = await connect('/jambonz/stt');
    socket.pause();
    socket.send(START);
    for (let n = 0; n < 40; n++) {
      socket.send(samplesToPcm16(spoken([5, 6])));
      socket.send(samplesToPcm16(silence(1500)));
    }
    await eventually(async () => expect(await openSessions()).toBe(0));
    expect(testServer.engine.transcribed.length).toBeLessThan(40);
    socket.terminate();
  });

  it('ends a session whose client sends nothing', async () => {
    await open();
    const socket = await connect('/jambonz/stt', false);
    const received: string[] = [];
    socket.on('message', (data) => received.push(String(data)));
    const closed = once(socket, 'close');
    socket.send(START);
    await eventually(() => {
      testServer.clock.advance(10_000);
      expect(received).toEqual([expect.stringMatching(/^\{"type":"error".*no message came/)]);
    });
    await closed;
    await eventually(async () => expect(await openSessions()).toBe(0));
  });

  it('reads no further while the engine is behind, loses nothing, and closes at the end', async () => {
    await open();
    testServer.engine.detectMs = 1000;
    const socket = await connect('/jambonz/stt');
    const finals: string[] = [];
    socket.on('message', (data) => {
      const { is_final: isFinal, alternatives } = JSON.parse(String(data));
      if (isFinal === true) finals.push(alternatives[0].transcript);
    });
    const closed = once(socket, 'close');
    socket.send(START);
    const words = Array.from({ length: 30 }, (_, n) => [n + 1]);
    for (const said of words) {
      socket.send(samplesToPcm16(spoken(said)));
      socket.send(samplesToPcm16(silence(1500)));
    }
    socket.send(STOP);
    await eventually(() => {
      testServer.clock.advance(1000);
      expect(socket.readyState).toBe(WebSocket.CLOSED);
    });
    expect([(await closed)[0], finals]).toEqual([1000, words.map((said) => written(said))]);
  });
});

describe('thousands of messages that come together', () => {
  it('are read one in each turn of the event loop, so that others have theirs', async () => {
    await open();
    const socket = await connect('/v1/realtime');
    let answers = 0;
    socket.on('message', (data: Buffer) => {
      if (data.includes('conversation.item.done')) answers++;
    });
    let turns = 0;
    const count = (): void => {
      turns++;
      if (socket.readyState === WebSocket.OPEN) setImmediate(count);
    };
    const item = { type: 'message', role: 'user', content: [] };
    for (let n = 0; n < 300; n++) socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
    count();
    await eventually(() => expect(answers).toBe(300));
    expect(turns).toBeGreaterThanOrEqual(300);
    socket.terminate();
  });
});

const LINEAR = 'encoding=linear16&sample_rate=16000';
const CONFIG = JSON.stringify({ action: 'config', use_server_vad: false });
/** What a socket begins with, a command that costs nothing, and how it is closed when thousands come. */
const COMMANDS = [
  [`/v1/listen?${LINEAR}`, [], { type: 'Finalize' }, 1008],
  [`/v1/listen?${LINEAR}&channels=8&multichannel=true`, [], { type: 'Finalize' }, 1008],
  [`/v1/listen?${LINEAR}`, [], { type: 'KeepAlive' }, 1008],
  [`/v2/listen?${LINEAR}`, [], { type: 'Configure', keyterms: ['Kovac'] }, 1008],
  ['/v1/speak', [], { type: 'Flush' }, 1013],
  ['/v1/speak', [], { type: 'Clear' }, 1013],
  ['/v1/speak', [], { type: 'Speak', text: '' }, 1013],
  ['/v1/speak', [], { type: 'Nothing' }, 1013],
  ['/v2/speak', [], { type: 'Flush' }, 1013],
  ['/v1/realtime?intent=transcription', [], { type: 'input_audio_buffer.commit' }, 1013],
  ['/v1/realtime?intent=transcription', [], { type: 'input_audio_buffer.clear' }, 1013],
  ['/v1/realtime?intent=transcription', [], { type: 'input_audio_buffer.append', audio: '' }, 1013],
  ['/jambonz/stt', [START], { type: 'nothing' }, 1013],
  ['/jambonz/tts', [], { type: 'flush' }, 1013],
  ['/ws/transcribe', [CONFIG], { action: 'flush' }, 1013],
] as const;

describe.each(COMMANDS)('a flood of commands to %s', (path, greeting, command, code) => {
  async function begin(): Promise<{ socket: WebSocket; state: { answers: number; code: number | null } }> {
    await open();
    const socket = await connect(path);
    const state: { answers: number; code: number | null } = { answers: 0, code: null };
    socket.on('message', () => state.answers++);
    socket.on('close', (closeCode) => {
      state.code = closeCode;
    });
    for (const message of greeting) socket.send(message);
    return { socket, state };
  }

  it('ends it', async () => {
    const { socket, state } = await begin();
    for (let sent = 0; sent < 5000 && socket.readyState === WebSocket.OPEN; sent++)
      socket.send(JSON.stringify(command));
    await eventually(() => expect(state.code).toBe(code));
    await sessionsEnd();
    expect((await testServer.metrics.refused.get()).values.map(({ labels, value }) => [labels['code'], value])).toEqual(
      [['too_many_requests', 1]],
    );
  });

  it('is none at the pace of the busiest client', async () => {
    const { socket, state } = await begin();
    for (let second = 0; second < 40; second++) {
      for (let sent = 0; sent < 50; sent++) socket.send(JSON.stringify(command));
      const read = once(socket, 'pong');
      socket.ping();
      await read;
      testServer.clock.advance(1000);
    }
    expect([state.code, socket.readyState]).toEqual([null, WebSocket.OPEN]);
    socket.terminate();
  });
});
