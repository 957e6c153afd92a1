/** Ten recognitions and ten speakers at once, on a whole gateway with pretend models. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { toneSpeech } from '../helpers/tones.ts';

const AT_ONCE = 10;
/** The pretend recogniser hears each as another word. */
const FREQUENCIES_HZ = [400, 800];
const WORDS = 3;
const FRAME_BYTES = 640;
const TEXTS = ['Your order has been shipped.', 'It arrives on Monday.', 'Goodbye.'];

let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway({ ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', LISTENERS_MAX: '40' });
});
afterAll(() => gateway.stop());

async function connect(path: string): Promise<{ socket: WebSocket; ended: Promise<Ended> }> {
  const socket = new WebSocket(gateway.url.replace(/^http/, 'ws') + path);
  const ended = endOf(socket);
  await once(socket, 'open');
  return { socket, ended };
}

interface Ended {
  readonly code: number;
  readonly messages: Record<string, unknown>[];
  readonly soundBytes: number;
}

function endOf(socket: WebSocket): Promise<Ended> {
  const messages: Record<string, unknown>[] = [];
  let soundBytes = 0;
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) soundBytes += data.length;
    else messages.push(JSON.parse(data.toString()) as Record<string, unknown>);
  });
  return new Promise((resolve) => {
    socket.once('close', (code) => resolve({ code, messages, soundBytes }));
  });
}

/** What jambonz is told of `audio`, in order; and the code that its socket is closed with. */
async function recognise(audio: Int16Array): Promise<{ code: number; finals: string[] }> {
  const { socket, ended } = await connect('/jambonz/stt');
  socket.send(JSON.stringify({ type: 'start', language: 'en-US', interimResults: true, sampleRateHz: 16_000 }));
  const bytes = samplesToPcm16(audio);
  for (let at = 0; at < bytes.length; at += FRAME_BYTES) socket.send(bytes.subarray(at, at + FRAME_BYTES));
  socket.send(JSON.stringify({ type: 'stop' }));
  const { code, messages } = await ended;
  const finals = messages.filter((message) => message['is_final'] === true);
  return {
    code,
    finals: finals.map(({ alternatives }) => (alternatives as { transcript: string }[])[0]?.transcript ?? ''),
  };
}

/** What a client of Deepgram gets for {@link TEXTS}, flushed one by one. */
async function speak(): Promise<{ code: number; types: unknown[]; soundBytes: number }> {
  const { socket, ended } = await connect('/v1/speak?encoding=mulaw&sample_rate=8000');
  for (const text of TEXTS) {
    socket.send(JSON.stringify({ type: 'Speak', text }));
    socket.send(JSON.stringify({ type: 'Flush' }));
  }
  socket.send(JSON.stringify({ type: 'Close' }));
  const { code, messages, soundBytes } = await ended;
  return { code, types: messages.map(({ type }) => type), soundBytes };
}

it('each hears its own words, and says its own texts whole', async () => {
  const alone: Awaited<ReturnType<typeof recognise>>[] = [];
  for (const hz of FREQUENCIES_HZ) alone.push(await recognise(toneSpeech(WORDS, hz)));
  const speaksAlone = await speak();
  expect(alone.map(({ code, finals }) => [code, finals.length])).toEqual([
    [1000, WORDS],
    [1000, WORDS],
  ]);
  expect(alone[0]?.finals).not.toEqual(alone[1]?.finals);
  expect(speaksAlone).toEqual({
    code: 1000,
    types: ['Metadata', 'Flushed', 'Flushed', 'Flushed'],
    soundBytes: expect.any(Number),
  });
  expect(speaksAlone.soundBytes).toBeGreaterThan(0);

  const which = Array.from({ length: AT_ONCE }, (_, n) => n % FREQUENCIES_HZ.length);
  const [heard, spoken] = await Promise.all([
    Promise.all(which.map((index) => recognise(toneSpeech(WORDS, FREQUENCIES_HZ[index] ?? 0)))),
    Promise.all(which.map(() => speak())),
  ]);
  expect(heard).toEqual(which.map((index) => alone[index]));
  expect(spoken).toEqual(which.map(() => speaksAlone));
  for (const kind of ['jambonz', 'speak'])
    await expect.poll(async () => metricValue(await gateway.metrics(), `trunkline_listeners{kind="${kind}"}`)).toBe(0);
});
