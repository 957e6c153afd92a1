// OpenAI's SDK for Node: a transcription session, from sound to the transcript.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { OpenAI } = await import(process.env.CLIENT);
const { OpenAIRealtimeWS } = await import(`${process.env.CLIENT}/realtime/ws`);
const { OpenAIRealtimeWebSocket } = await import(`${process.env.CLIENT}/realtime/websocket`);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const MESSAGE_MS = 100;
const RATE_HZ = 8000;
const SILENCE_MS = 1500;

const client = new OpenAI({ apiKey: TRUNKLINE_KEY, baseURL: `${TRUNKLINE_URL}/v1` });
// 5 and 6 can send a model alone: the session is made one that transcribes by its first update.
// The SDK has one for runtimes with a WebSocket of their own.
const Realtime = globalThis.WebSocket === undefined ? OpenAIRealtimeWS : OpenAIRealtimeWebSocket;
const realtime = new Realtime({ model: 'gpt-4o-transcribe' }, client);
const seen = [];
const errors = [];
let deltas = '';
// A busy machine has no text before the end of what is said.
realtime.on('event', ({ type }) => type.endsWith('.delta') || seen.push(type));
realtime.on('error', (error) => errors.push(error.message));
realtime.on('conversation.item.input_audio_transcription.delta', ({ delta }) => {
  deltas += delta;
});
const finished = new Promise((resolve) => {
  realtime.on('conversation.item.input_audio_transcription.completed', ({ transcript }) => resolve(transcript));
});
await new Promise((resolve) => realtime.on('session.created', resolve));
const input = {
  format: { type: 'audio/pcm', rate: RATE_HZ },
  transcription: { model: 'gpt-4o-transcribe', language: 'en' },
  turn_detection: { type: 'server_vad', silence_duration_ms: 900 },
};
realtime.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
const messageBytes = (2 * RATE_HZ * MESSAGE_MS) / 1000;
const sound = Buffer.concat([
  readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES),
  Buffer.alloc((2 * RATE_HZ * SILENCE_MS) / 1000),
]);
for (let at = 0; at < sound.length; at += messageBytes) {
  const audio = sound.subarray(at, at + messageBytes).toString('base64');
  realtime.send({ type: 'input_audio_buffer.append', audio });
  await pause(MESSAGE_MS);
}
const transcript = await finished;
realtime.close();
console.log(
  JSON.stringify({
    events: seen.filter((type, at) => !seen.slice(0, at).includes(type)),
    hasDeltas: deltas !== '',
    transcript,
    errors,
  }),
);
process.exit(0);
