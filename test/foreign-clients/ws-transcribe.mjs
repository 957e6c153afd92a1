// A WebSocket client that sends a recording at the pace of speech and then asks for what is left.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { default: WebSocket } = await import(process.env.CLIENT);
const { TRUNKLINE_URL, TRUNKLINE_KEY, AUDIO_DIR } = process.env;
const WAV_HEAD_BYTES = 44;
const FRAME_MS = 20;
const RATE_HZ = 8000;

const url = `${TRUNKLINE_URL.replace('http', 'ws')}/ws/transcribe?sample_rate=${RATE_HZ}`;
const socket = new WebSocket(url, { headers: { authorization: `Bearer ${TRUNKLINE_KEY}` } });
const answers = [];
const finals = [];
let greeting = null;
const ended = new Promise((resolve) => {
  socket.on('message', (data) => {
    const answer = JSON.parse(data.toString());
    greeting ??= answer;
    answers.push(answer);
    if (answer.is_final) finals.push(answer.text);
    if (answer.is_final && answer.text === '') resolve();
  });
});
await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
const sound = readFileSync(join(AUDIO_DIR, 'short.wav')).subarray(WAV_HEAD_BYTES);
const frameBytes = (2 * RATE_HZ * FRAME_MS) / 1000;
for (let at = 0; at < sound.length; at += frameBytes) {
  socket.send(sound.subarray(at, at + frameBytes));
  await pause(FRAME_MS);
}
// One final for what is left, and an empty one, as nothing is left behind that.
socket.send(JSON.stringify({ action: 'flush' }));
socket.send(JSON.stringify({ action: 'flush' }));
await ended;
socket.close();
console.log(
  JSON.stringify({
    status: greeting.status,
    hasPartials: answers.some(({ is_partial }) => is_partial),
    text: finals.join(' ').trim(),
  }),
);
