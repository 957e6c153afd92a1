// LiveKit's Deepgram plugin for Node: a recording as text; speech by socket, heard again. (By REST it knows https
// at port 443 alone.)
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initializeLogger } from '@livekit/agents';
import { AudioFrame, combineAudioFrames } from '@livekit/rtc-node';

const { STT, TTS } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const RATE_HZ = 8000;
const OUT_RATE_HZ = 24000;
const SENTENCE = 'Please leave a message after the tone.';

initializeLogger({ pretty: false, level: 'fatal' });
const stt = new STT({ apiKey: TRUNKLINE_KEY, baseUrl: TRUNKLINE_URL.replace('http', 'ws'), language: 'en' });
const tts = new TTS({ apiKey: TRUNKLINE_KEY, baseUrl: TRUNKLINE_URL, sampleRate: OUT_RATE_HZ });
const hear = async (frame) => (await stt.recognize(frame)).alternatives[0].text;

async function collect(stream) {
  const frames = [];
  for await (const event of stream) if (event.frame) frames.push(event.frame);
  return combineAudioFrames(frames);
}

function speakLive() {
  const stream = tts.stream();
  for (const word of SENTENCE.split(' ')) stream.pushText(`${word} `);
  stream.flush();
  stream.endInput();
  return collect(stream);
}

const wav = readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES);
const samples = new Int16Array(Uint8Array.from(wav).buffer);
const live = await speakLive();
console.log(
  JSON.stringify({
    text: await hear(new AudioFrame(samples, RATE_HZ, 1, samples.length)),
    spokenLive: await hear(live),
    rateHz: live.sampleRate,
  }),
);
process.exit(0);
