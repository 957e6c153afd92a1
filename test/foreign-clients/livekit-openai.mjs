// LiveKit's OpenAI plugin for Node: a recording as text, a text as speech, heard again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initializeLogger } from '@livekit/agents';
import { AudioFrame, combineAudioFrames } from '@livekit/rtc-node';

const { STT, TTS } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const RATE_HZ = 8000;
const SENTENCE = 'Please leave a message after the tone.';

initializeLogger({ pretty: false, level: 'fatal' });
const address = { apiKey: TRUNKLINE_KEY, baseURL: `${TRUNKLINE_URL}/v1` };
const stt = new STT({ ...address, model: 'whisper-1', language: 'en' });
const hear = async (frame) => (await stt.recognize(frame)).alternatives[0].text;

const wav = readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES);
const samples = new Int16Array(Uint8Array.from(wav).buffer);
const frames = [];
for await (const { frame } of new TTS({ ...address, voice: 'alloy' }).synthesize(SENTENCE)) frames.push(frame);
const spoken = combineAudioFrames(frames);
console.log(
  JSON.stringify({
    text: await hear(new AudioFrame(samples, RATE_HZ, 1, samples.length)),
    spoken: await hear(spoken),
    rateHz: spoken.sampleRate,
  }),
);
process.exit(0);
