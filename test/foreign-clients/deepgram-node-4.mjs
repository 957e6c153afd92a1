// Deepgram's SDK for Node, versions 3 and 4: live audio at the pace of speech, a Finalize, and the end.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { createClient, LiveTranscriptionEvents } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const FRAME_MS = 20;
const RATE_HZ = 8000;

function connect(key, options) {
  const live = createClient(key, { global: { url: TRUNKLINE_URL } }).listen.live(options);
  const counts = { started: 0, ends: 0, unhandled: 0 };
  const seen = { ...counts, results: [], metadata: null, closed: null, errors: [], events: new Set() };
  for (const type of ['Transcript', 'SpeechStarted', 'UtteranceEnd', 'Metadata'])
    live.on(LiveTranscriptionEvents[type], ({ type: name }) => seen.events.add(name));
  live.on(LiveTranscriptionEvents.Transcript, (message) => seen.results.push(message));
  live.on(LiveTranscriptionEvents.SpeechStarted, () => seen.started++);
  live.on(LiveTranscriptionEvents.UtteranceEnd, () => seen.ends++);
  live.on(LiveTranscriptionEvents.Unhandled, () => seen.unhandled++);
  live.on(LiveTranscriptionEvents.Error, (error) => seen.errors.push(error?.statusCode ?? error?.message ?? 'unknown'));
  live.on(LiveTranscriptionEvents.Metadata, (message) => {
    seen.metadata = message.type;
  });
  const closed = new Promise((resolve) => {
    live.on(LiveTranscriptionEvents.Close, (event) => {
      seen.closed = event?.code ?? null;
      resolve();
    });
  });
  return { live, seen, closed };
}

async function until(holds) {
  for (let tries = 0; tries < 1500 && !holds(); tries++) await pause(FRAME_MS);
}

const textOf = (message) => message.channel.alternatives[0].transcript;
const options = { model: 'nova-3', encoding: 'linear16', sample_rate: RATE_HZ, interim_results: true, punctuate: true };
const { live, seen, closed } = connect(TRUNKLINE_KEY, { ...options, vad_events: true, utterance_end_ms: 1000 });
await new Promise((resolve) => live.on(LiveTranscriptionEvents.Open, resolve));
const sound = readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES);
const frameBytes = (2 * RATE_HZ * FRAME_MS) / 1000;
const frames = [];
for (let at = 0; at < sound.length; at += frameBytes) frames.push(sound.subarray(at, at + frameBytes));
for (let at = 0; at < 100; at++) frames.push(Buffer.alloc(frameBytes));
for (const frame of frames) {
  live.send(frame);
  await pause(FRAME_MS);
}
live.keepAlive();
await until(() => seen.ends > 0);
live.finalize();
await until(() => seen.results.some((message) => message.from_finalize));
live.requestClose();
await closed;
const refused = connect('a-wrong-key', options);
await until(() => refused.seen.errors.length > 0);
const finals = seen.results.filter((message) => message.is_final);
console.log(
  JSON.stringify({
    events: [...seen.events],
    text: finals.map(textOf).join(' ').trim(),
    hasInterims: seen.results.some((message) => !message.is_final),
    speechFinals: seen.results.filter((message) => message.speech_final && textOf(message) !== '').length,
    fromFinalize: finals.filter((message) => message.from_finalize).length,
    firstWordHasTimes: finals[0].channel.alternatives[0].words[0].end > 0,
    started: seen.started > 0,
    utteranceEnds: seen.ends,
    metadata: seen.metadata,
    closed: seen.closed,
    errors: seen.errors,
    unhandled: seen.unhandled,
    refusal: refused.seen.errors[0],
  }),
);
process.exit(0);
