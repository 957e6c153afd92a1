// Deepgram's SDK for Node, version 5: live audio, a Finalize, the end; no second connection behind it; then Flux.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { DeepgramClient } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const FRAME_MS = 20;
const RATE_HZ = 8000;
/** Within this time the SDK would connect again. */
const GHOST_MS = 6000;

const client = new DeepgramClient({ apiKey: TRUNKLINE_KEY, baseUrl: TRUNKLINE_URL.replace('http', 'ws') });

async function open(api, options) {
  const connection = await api.connect(options);
  const seen = { messages: [], opens: 0, closed: null, errors: 0 };
  connection.on('open', () => seen.opens++);
  connection.on('message', (message) => seen.messages.push(message));
  connection.on('error', () => seen.errors++);
  connection.on('close', (event) => {
    seen.closed = event.code;
  });
  connection.connect();
  await connection.waitForOpen();
  return { connection, seen };
}

async function until(holds) {
  for (let tries = 0; tries < 1500 && !holds(); tries++) await pause(FRAME_MS);
}

const sound = readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES);
const frameBytes = (2 * RATE_HZ * FRAME_MS) / 1000;
const frames = [];
for (let at = 0; at < sound.length; at += frameBytes) frames.push(sound.subarray(at, at + frameBytes));
for (let at = 0; at < 100; at++) frames.push(Buffer.alloc(frameBytes));

const options = { model: 'nova-3', encoding: 'linear16', sample_rate: RATE_HZ };
const live = { ...options, interim_results: 'true', punctuate: 'true', vad_events: 'true', utterance_end_ms: '1000' };
const { connection, seen } = await open(client.listen.v1, live);
for (const frame of frames) {
  connection.sendMedia(frame);
  await pause(FRAME_MS);
}
connection.sendKeepAlive({ type: 'KeepAlive' });
const of = (type) => seen.messages.filter((message) => message.type === type);
await until(() => of('UtteranceEnd').length > 0);
connection.sendFinalize({ type: 'Finalize' });
await until(() => of('Results').some((message) => message.from_finalize));
connection.sendCloseStream({ type: 'CloseStream' });
await until(() => seen.closed !== null);

const flux = await open(client.listen.v2, { ...options, model: 'flux-general-en', eager_eot_threshold: 0.4 });
for (const frame of frames) {
  flux.connection.sendMedia(frame);
  await pause(FRAME_MS);
}
const ended = () => flux.seen.messages.find((message) => message.event === 'EndOfTurn');
await until(() => ended() !== undefined);
flux.connection.sendCloseStream({ type: 'CloseStream' });
await until(() => flux.seen.closed !== null);
await pause(GHOST_MS);

const finals = of('Results').filter((message) => message.is_final);
const textOf = (message) => message.channel.alternatives[0].transcript;
console.log(
  JSON.stringify({
    events: [...new Set(seen.messages.map((message) => message.type))],
    text: finals.map(textOf).join(' ').trim(),
    hasInterims: of('Results').some((message) => !message.is_final),
    speechFinals: finals.filter((message) => message.speech_final && textOf(message) !== '').length,
    fromFinalize: finals.filter((message) => message.from_finalize).length,
    started: of('SpeechStarted').length > 0,
    utteranceEnds: of('UtteranceEnd').length,
    metadata: of('Metadata').length,
    closed: seen.closed,
    opens: seen.opens,
    errors: seen.errors,
    turn: ended()?.transcript,
    eager: flux.seen.messages.some((message) => message.event === 'EagerEndOfTurn'),
    firstOfFlux: flux.seen.messages[0].type,
    fluxClosed: flux.seen.closed,
    fluxOpens: flux.seen.opens,
  }),
);
process.exit(0);
