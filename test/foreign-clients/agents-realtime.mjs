// OpenAI's agents SDK for Node: what the user said gets into the history of the session.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { RealtimeAgent, RealtimeSession } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const MESSAGE_MS = 100;
const RATE_HZ = 8000;
const SILENCE_MS = 1500;

const session = new RealtimeSession(new RealtimeAgent({ name: 'clerk', instructions: 'Be brief.' }), {
  transport: 'websocket',
  model: 'gpt-realtime',
  config: {
    audio: { input: { format: { type: 'audio/pcm', rate: RATE_HZ }, turnDetection: { type: 'server_vad' } } },
  },
});
const errors = [];
session.on('error', (error) => errors.push(JSON.stringify(error)));
const heard = new Promise((resolve) => {
  session.on('history_updated', (history) => {
    const [content] = history.flatMap((item) => item.content ?? []);
    if (content?.transcript) resolve({ roles: history.map(({ role }) => role), transcript: content.transcript });
  });
});
const url = `${TRUNKLINE_URL.replace('http', 'ws')}/v1/realtime?model=gpt-realtime`;
await session.connect({ apiKey: TRUNKLINE_KEY, url });
const sound = Buffer.concat([
  readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES),
  Buffer.alloc((2 * RATE_HZ * SILENCE_MS) / 1000),
]);
const messageBytes = (2 * RATE_HZ * MESSAGE_MS) / 1000;
for (let at = 0; at < sound.length; at += messageBytes) {
  const part = sound.subarray(at, at + messageBytes);
  session.sendAudio(part.buffer.slice(part.byteOffset, part.byteOffset + part.length));
  await pause(MESSAGE_MS);
}
console.log(JSON.stringify({ ...(await heard), errors }));
process.exit(0);
