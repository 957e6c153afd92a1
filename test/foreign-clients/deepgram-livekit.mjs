// LiveKit's Deepgram plugin for Node: live audio, the end of speech from us, and turns (STTv2).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { initializeLogger, stt } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

const { STT, STTv2 } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const RATE_HZ = 8000;
const FRAME_MS = 20;
const SILENCE_MS = 2000;
const { SpeechEventType: Type } = stt;

initializeLogger({ pretty: false, level: 'fatal' });
const sound = Buffer.concat([
  readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES),
  Buffer.alloc((2 * RATE_HZ * SILENCE_MS) / 1000),
]);
const samples = new Int16Array(Uint8Array.from(sound).buffer);

async function run(service) {
  const stream = service.stream();
  const events = [];
  const ended = (async () => {
    for await (const event of stream) {
      events.push(event);
      if (event.type === Type.END_OF_SPEECH) return;
    }
  })();
  const length = (RATE_HZ * FRAME_MS) / 1000;
  for (let at = 0; at + length <= samples.length; at += length) {
    stream.pushFrame(new AudioFrame(samples.slice(at, at + length), RATE_HZ, 1, length));
    await pause(FRAME_MS);
  }
  await ended;
  stream.close();
  const of = (type) => events.filter((event) => event.type === type);
  return {
    text: of(Type.FINAL_TRANSCRIPT)
      .map((event) => event.alternatives[0].text)
      .join(' '),
    starts: of(Type.START_OF_SPEECH).length,
    hasInterims: of(Type.INTERIM_TRANSCRIPT).length > 0,
    preflight: of(Type.PREFLIGHT_TRANSCRIPT).length > 0,
  };
}

const ws = TRUNKLINE_URL.replace('http', 'ws');
const live = await run(
  new STT({ apiKey: TRUNKLINE_KEY, baseUrl: ws, sampleRate: RATE_HZ, model: 'nova-3', language: 'en' }),
);
const turns = await run(
  new STTv2({
    apiKey: TRUNKLINE_KEY,
    endpointUrl: `${ws}/v2/listen`,
    sampleRate: RATE_HZ,
    model: 'flux-general-en',
    eagerEotThreshold: 0.4,
  }),
);
console.log(JSON.stringify({ text: live.text, starts: live.starts, hasInterims: live.hasInterims, turns }));
process.exit(0);
